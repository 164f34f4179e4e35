"""
Solve a maze by labelling its walls
===================================

Is there a way from one place of a maze to another? They are connected if they have the
same label. And which way is it? In a maze without loops that has an entrance and an
exit, the walls are two components, one on either hand of whoever walks through, and the
way is where the two come near to each other. So a call of `conncomp.label` solves a
maze of any size, and knows nothing of ways.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import maximum_filter

import conncomp
from conncomp import generate

maze = generate.patterns.maze((101, 161), seed=2)  # ways are 1, walls are 0
maze[0, 1] = maze[-1, -2] = 1  # the entrance and the exit

ways = conncomp.label(maze, connectivity=1)
print("a way leads through:", ways[0, 1] == ways[-1, -2])

walls, num = conncomp.label(maze == 0, return_num=True)
print(f"the walls are {num} components")

# %%
# A pixel of a way belongs to the solution if both walls are among its neighbours.

near_first, near_second = (maximum_filter(walls == wall, size=3) for wall in (1, 2))
solution = (maze == 1) & near_first & near_second
print(f"{solution.sum()} steps of {maze.sum()}")

picture = np.zeros((*maze.shape, 3), np.uint8)
picture[walls == 1] = (60, 60, 90)
picture[walls == 2] = (150, 90, 60)
picture[maze == 1] = (255, 255, 255)
picture[solution] = (230, 40, 60)

figure, axes = plt.subplots(figsize=(8, 5.1), layout="constrained")
axes.imshow(picture, interpolation="none")
axes.set_axis_off()
plt.show()
