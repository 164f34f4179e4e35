"""Planes of OME-TIFF that lie in several files of a folder."""

import io
import os

import numpy as np
import pytest
import tifffile

from conncomp import read_image
from conncomp.files.images import count_series, opened_series, read_content
from conncomp.files.scales import scale_of
from conncomp.files.tiff import ome_sets
from conncomp.files.tiff.ome import companion_of
from conncomp.files.tiff.ome_sets import files_of_set, head_of_set
from measured_command import allocates_little

PLANES = np.arange(6 * 3 * 4, dtype=np.uint16).reshape(6, 3, 4)
ABOUT = (
    'DimensionOrder="XYZCT" SizeZ="3" SizeC="2" PhysicalSizeX="0.5" PhysicalSizeY="0.5" '
    'PhysicalSizeZ="2"'
)
SHAPE = 2, 3, 3, 4


def held_by(name, number, page, count=1, **first):
    """Return that planes from one on are pages of a file of a set."""
    fields = {"IFD": page, "PlaneCount": count, **{f"First{axis}": k for axis, k in first.items()}}
    text = " ".join(f'{field}="{value}"' for field, value in fields.items())
    return f'<TiffData {text}><UUID FileName="{name}">{number}</UUID></TiffData>'


def xml(*images, root="<OME>"):
    pixels = "".join(f"<Pixels {about}>{blocks}</Pixels>" for about, blocks in images)
    return f'<?xml version="1.0"?>{root}{pixels}</OME>'


def tiff(planes, description=None, **options):
    file = io.BytesIO()
    options = {"photometric": "minisblack", "metadata": None} | options
    tifffile.imwrite(file, planes, description=description, **options)
    return file.getvalue()


BLOCKS = "".join(held_by(f"c{c}.tif", c, z, Z=z, C=c) for z in range(3) for c in range(2))


def write_set(folder, blocks=BLOCKS, about=ABOUT, **options):
    """Write two files, of a channel each, which both tell of all planes."""
    for c in range(2):
        text = xml((about, blocks), root=f'<OME UUID="{c}">')
        planes = PLANES[3 * c : 3 * c + 3]
        (folder / f"c{c}.tif").write_bytes(tiff(planes, text, **options))


def write_companion(folder, images=((ABOUT, BLOCKS),)):
    (folder / "a.companion.ome").write_text(xml(*images))
    for c in range(2):
        about = (
            '<?xml version="1.0"?><OME><BinaryOnly MetadataFile="a.companion.ome" UUID="3"/></OME>'
        )
        (folder / f"c{c}.tif").write_bytes(tiff(PLANES[3 * c : 3 * c + 3], about))
    return folder / "a.companion.ome"


@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}, {"byteorder": ">"}])
def test_each_file_of_a_set_is_all_of_it(tmp_path, monkeypatch, options):
    write_set(tmp_path, **options)
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "c0.tif", tmp_path / "c1.tif", "c0.tif"):
        found = read_content(path)
        np.testing.assert_array_equal(found.image, PLANES.reshape(SHAPE))
        assert (found.axes, found.channels) == ("CZYX", 0)
        assert found.scale == scale_of((1, 2, 0.5, 0.5), "µm")
    assert count_series(tmp_path / "c0.tif") == 1


def test_a_companion_describes_files(tmp_path):
    path = write_companion(tmp_path)
    np.testing.assert_array_equal(read_image(path), PLANES.reshape(SHAPE))
    for c in range(2):
        with pytest.raises(ValueError, match=r"c\d.tif: is one of a set of files that 'a.comp"):
            read_content(tmp_path / f"c{c}.tif")
        assert head_of_set(tmp_path / f"c{c}.tif") == str(path)
    path.unlink()
    np.testing.assert_array_equal(read_image(tmp_path / "c1.tif"), PLANES[3:])


def test_the_name_of_a_companion_is_looked_for_in_its_element():
    """So that many that name none take no longer than their length."""
    assert companion_of('<BinaryOnly x="" MetadataFile = "a"/>') == "a"
    assert companion_of('<BinaryOnly <a MetadataFile="a"/>') is None


def test_a_companion_of_one_file(tmp_path):
    (tmp_path / "c0.tif").write_bytes(tiff(PLANES))
    path = tmp_path / "a.companion.ome"
    for root in ("<OME>", '<OME UUID="0">'):
        path.write_text(xml((ABOUT, held_by("c0.tif", 0, 0, 6)), root=root))
        np.testing.assert_array_equal(read_image(path), PLANES.reshape(SHAPE))


def test_images_of_a_set_lie_here_and_there(tmp_path):
    """Each file tells of all images, and holds some."""
    images = [
        ("", held_by("c0.tif", 0, 2)),
        ("", held_by("c1.tif", 1, 1)),
        ('SizeZ="3"', held_by("c1.tif", 1, 2) + held_by("c0.tif", 0, 0, 2, Z=1)),
        ('SizeT="2"', held_by("c0.tif", 0, 0) + held_by("c0.tif", 0, 1, T=1)),
    ]
    pages = [2, 4, [5, 0, 1], [0, 1]]
    path = write_companion(tmp_path, images)
    with opened_series(path) as read:
        for series, chosen in enumerate(pages):
            np.testing.assert_array_equal(read(series).image, PLANES[chosen])
    assert count_series(path) == len(pages)
    with pytest.raises(ValueError, match="there is no series=4"):
        read_content(path, series=4)
    for own in "01":
        text = xml(*images, root=f'<OME UUID="{own}">')
        planes = PLANES[3 * int(own) :][:3]
        (tmp_path / f"c{own}.tif").write_bytes(tiff(planes, text))
        with opened_series(tmp_path / f"c{own}.tif") as read:
            for series, chosen in enumerate(pages):
                np.testing.assert_array_equal(read(series).image, PLANES[chosen])


def test_colours_and_a_file_that_was_renamed(tmp_path):
    colours = np.arange(2 * 5 * 6 * 3, dtype=np.uint8).reshape(2, 5, 6, 3)
    blocks = held_by("x.tif", 0, 0) + held_by("b.tif", 1, 0, Z=1)
    for k, name in enumerate(["new.tif", "b.tif"]):
        text = xml(('SizeC="3" SizeZ="2"', blocks), root=f'<OME UUID="{k}">')
        (tmp_path / name).write_bytes(tiff(colours[k], text, photometric="rgb"))
    found = read_content(tmp_path / "new.tif")
    np.testing.assert_array_equal(found.image, colours)
    assert (found.axes, found.channels) == ("ZYXS", 3)
    with pytest.raises(ValueError, match=r"of which 'x.tif' is not in its folder; put them there"):
        read_content(tmp_path / "b.tif")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("../c1.tif", "no plain name"),
        ("/etc/passwd", "no plain name"),
        ("sub/c1.tif", "no plain name"),
        ("sub\\c1.tif", "no plain name"),
        ("..", "no plain name"),
        ("", "no plain name"),
        ("none.tif", "'none.tif' is not in its folder"),
        ("n" * 200, "is not in its folder"),
        ("\x1b[31m", "x1b.31m' is not in its folder"),
        ("pipe", "its file 'pipe': is no regular file"),
        ("folder", "its file 'folder'|Is a directory"),
        ("text", "its file 'text': "),
        ("cut.tif", "its file 'cut.tif': "),
        ("wide.tif", "its file 'wide.tif': has a page 0 of shape"),
        ("real.tif", "its file 'real.tif': has a page 0 of shape"),
        ("lzma.tif", "its file 'lzma.tif': is compressed by LZMA"),
    ],
)
def test_files_of_a_set_that_are_not_read(tmp_path, name, complaint):
    write_set(tmp_path, BLOCKS.replace("c1.tif", name))
    (tmp_path / "sub").mkdir()
    os.replace(tmp_path / "c1.tif", tmp_path / "sub/c1.tif")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("no TIFF")
    (tmp_path / "cut.tif").write_bytes(tiff(PLANES[3:])[:200])
    (tmp_path / "wide.tif").write_bytes(tiff(np.zeros((3, 3, 5), np.uint16)))
    (tmp_path / "real.tif").write_bytes(tiff(PLANES[3:].astype(np.float32)))
    (tmp_path / "lzma.tif").write_bytes(tiff(PLANES[3:], compression="lzma"))
    with pytest.raises((ValueError, OSError), match=complaint):
        read_content(tmp_path / "c0.tif")


@pytest.mark.parametrize("place", ["../elsewhere/c1.tif", "other.tif", "c0.tif"])
def test_links_in_a_set_are_not_followed(tmp_path, place):
    """The file that is named may be a link itself; others are a stranger's."""
    folder, elsewhere = tmp_path / "set", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    write_set(folder)
    (folder / "c1.tif").rename(elsewhere / "c1.tif")
    (folder / "other.tif").write_bytes((elsewhere / "c1.tif").read_bytes())
    (folder / "c1.tif").symlink_to(place)
    with pytest.raises(ValueError, match=r"c0\.tif: c1\.tif is a link; copy what it leads to"):
        read_content(folder / "c0.tif")
    (folder / "c1.tif").unlink()
    (elsewhere / "c1.tif").rename(folder / "c1.tif")
    (folder / "c0.tif").rename(elsewhere / "c0.tif")
    (folder / "c0.tif").symlink_to(elsewhere / "c0.tif")
    np.testing.assert_array_equal(read_content(folder / "c0.tif").image, PLANES.reshape(SHAPE))


@pytest.mark.parametrize(
    ("about", "blocks", "complaint"),
    [
        (ABOUT, BLOCKS.replace('IFD="2"', 'IFD="7"'), "has 3 pages, and no page 7"),
        (ABOUT, BLOCKS.replace('IFD="2"', 'IFD="1"'), "names no page for each of"),
        (ABOUT, BLOCKS.replace('FirstZ="2"', 'FirstZ="1"'), "names no page for each of"),
        (ABOUT.replace('C="2"', 'C="3"'), BLOCKS, "names no page for each of"),
        (ABOUT.replace('Z="3"', f'Z="{9**20}"'), BLOCKS, "all its files are of"),
        (ABOUT.replace('Z="3"', 'Z="30000"'), BLOCKS.replace('Count="1"', f'Count="{9**20}"'),
         "all its files are of"),
        (ABOUT.replace('Z="3"', 'Z="x"'), BLOCKS, "SizeZ='x'"),
        (ABOUT, BLOCKS.replace(' FileName="c1.tif"', ""), "'1' is not in its folder"),
    ],
)  # fmt: skip
def test_sets_that_are_not_what_they_say(tmp_path, about, blocks, complaint):
    write_set(tmp_path, blocks, about)
    with pytest.raises(ValueError, match=f"c0.tif: .*{complaint}"):
        read_content(tmp_path / "c0.tif")


def test_what_names_several_missing_files_says_so(tmp_path, monkeypatch):
    blocks = "".join(held_by(f"{k}.tif", f"x{k}", 0, T=k) for k in range(7))
    path = write_companion(tmp_path, [('SizeT="7"', blocks)])
    with pytest.raises(ValueError, match=r"7 files, of which '0.tif', '1.tif', '2.tif' and 4 more"):
        read_content(path)
    monkeypatch.setattr(ome_sets, "MOST_FILES", 6)
    with pytest.raises(ValueError, match="is a set of 7 files, and more than 6 are not read"):
        read_content(path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"<?xml version='1.0'?><svg/>", "tells of no image"),
        (b"<?xml " + b"x" * 2000, "more than 0 MiB of XML"),
        (b"<OME:OME><Pixels/></OME:OME>", "does not say which file holds them"),
    ],
)
def test_xml_that_is_no_companion(tmp_path, monkeypatch, content, complaint):
    monkeypatch.setattr(ome_sets, "LONGEST_XML", 1000)
    (tmp_path / "in_.companion.ome").write_bytes(content)
    with pytest.raises(ValueError, match=complaint):
        read_content(tmp_path / "in_.companion.ome")
    (tmp_path / "in_.companion.ome").write_bytes(tiff(PLANES))
    with pytest.raises(ValueError, match=r"named as OME-XML, but its content is TIFF"):
        read_content(tmp_path / "in_.companion.ome")


def test_many_planes_of_a_file_that_is_mostly_empty(tmp_path):
    """What is told of them takes no memory for each."""
    size = 1 << 22
    (tmp_path / "c0.tif").write_bytes(tiff(PLANES[:1, :1, :1]))
    os.truncate(tmp_path / "c0.tif", size)
    count = size // ome_sets.LEAST_PAGE
    blocks = held_by("c0.tif", 0, 0, count)
    text = xml((f'SizeZ="{count}"', blocks), root='<OME UUID="a">')
    (tmp_path / "a.tif").write_bytes(tiff(PLANES, text))
    message = "'c0.tif': has 1 pages, and no page 1"
    with allocates_little(2 * size), pytest.raises(ValueError, match=message):
        read_image(tmp_path / "a.tif")


def test_files_that_have_names_but_no_numbers(tmp_path):
    blocks = held_by("c0.tif", "", 0, Z=0) + held_by("c1.tif", "", 1, Z=1)
    for c in range(2):
        planes = PLANES[3 * c : 3 * c + 3]
        (tmp_path / f"c{c}.tif").write_bytes(tiff(planes, xml(('SizeZ="2"', blocks))))
    np.testing.assert_array_equal(read_image(tmp_path / "c0.tif"), PLANES[[0, 4]])


def test_the_first_plane_says_by_which_file_a_set_is_read(tmp_path):
    write_set(tmp_path)
    paths = [str(tmp_path / f"c{c}.tif") for c in range(2)]
    assert head_of_set(paths[0]) is None
    assert head_of_set(paths[1]) == paths[0]
    assert files_of_set(paths[0]) == files_of_set(paths[1]) == paths
    (tmp_path / "alone.tif").write_bytes(tiff(PLANES))
    assert head_of_set(tmp_path / "alone.tif") is None
    assert files_of_set(tmp_path / "alone.tif") == []
    companion = write_companion(tmp_path)
    assert files_of_set(companion) == paths
    assert head_of_set(companion) is None
    assert head_of_set(paths[0]) == str(companion)
