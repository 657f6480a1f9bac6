# SPDX-License-Identifier: Apache-2.0
"""Images as a playbook names them: an ID, `debian-13`, or a family for its newest version."""

from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure

# A snapshot is an image of new servers only.
SNAPSHOT_PREFIX = 'snap_'
ID_PREFIXES = ('img_', 'custom_', SNAPSHOT_PREFIX)


def image_name(image):
    """Returns the name of an image, or None for a custom image without one."""
    if image['type'] == 'custom':
        return image['name']
    return '-'.join(part for part in (image['family'], image['version'], image['variant']) if part)


def is_match(text, image):
    """Whether an image is the named one. A family alone matches every version of it."""
    if text == image['id'] or text == image_name(image):
        return True
    return image['type'] == 'official' and text == image['family']


def select_image(images, text):
    """Returns the image that would be installed now: the newest match."""
    if text.startswith(ID_PREFIXES):
        return {'id': text}
    matches = [image for image in images if is_match(text, image) and not image['deprecated_at']]
    if not matches:
        raise Failure('image: no available image is named "%s"' % text)
    if all(image['type'] == 'custom' for image in matches) and len(matches) > 1:
        ids = ', '.join(image['id'] for image in matches[:10])
        raise Failure('image: more than one image is named "%s"; use an ID: %s' % (text, ids))
    return max(matches, key=lambda image: image['released_at'])


def is_installed(images, text, image_id):
    """Whether the installed image is the named one.

    An image that is no longer listed cannot be compared by name: that is no reason to erase a disk.
    """
    if text.startswith(ID_PREFIXES):
        return text == image_id
    installed = next((image for image in images if image['id'] == image_id), None)
    return installed is None or is_match(text, installed)
