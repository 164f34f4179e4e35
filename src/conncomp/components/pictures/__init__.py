"""Pictures of components: colours over shades of an image."""
