"""Write four images that scikit-image has to a folder: python scikit_images.py FOLDER."""

import sys
from pathlib import Path

from skimage import data

import conncomp

folder = Path(sys.argv[1])
folder.mkdir(exist_ok=True)
conncomp.write_image(folder / "coins.png", data.coins())
conncomp.write_image(folder / "cell.png", data.cell())
conncomp.write_image(folder / "retina.png", data.retina())
conncomp.write_image(folder / "ihc.png", data.immunohistochemistry())
