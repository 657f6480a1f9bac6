#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

DOCUMENTATION = r'''
module: volume
short_description: Create, enlarge, attach, detach, and delete volumes
version_added: 0.1.0
description:
  - A volume is found by I(id), or by I(name) if only one volume has it.
options:
  name:
    description: Name of the volume. With I(id), the name that the volume is to have.
    type: str
  id:
    description: ID of an existing volume.
    type: str
  state:
    description:
      - C(present) creates the volume if it does not exist, and leaves its attachment unchanged.
      - C(attached) also attaches it to I(server). If another server has it, it is detached there first.
      - C(detached) also detaches it.
      - C(absent) deletes it with its data.
      - Unmount its file system before it is detached.
    type: str
    choices: [present, absent, attached, detached]
    default: present
  size_gb:
    description: Size in GiB. Required for a new volume. A volume grows online and never shrinks.
    type: int
  region:
    description:
      - Code of the region. Required for a new volume, except with I(state=attached), which uses the region of
        the server.
      - Fixed after creation.
    type: str
  server:
    description: Name or ID of the server. Required with I(state=attached), and not allowed otherwise.
    type: str
  encrypted:
    description: Whether you encrypt the volume with LUKS. For your records, and fixed after creation.
    type: bool
  filesystem:
    description:
      - File system on the volume. For your records, and fixed after creation. Volumes are not formatted.
    type: str
  labels:
    description: Labels of the volume. Replaces all labels.
    type: dict
  protection:
    description:
      - Protects the volume against mistakes. Lift the protection in a task before the task that deletes it.
    type: dict
    suboptions:
      delete:
        description: Whether the volume cannot be deleted.
        type: bool
  force:
    description: Whether I(state=absent) may delete a volume that is attached. It is detached first.
    type: bool
    default: false
extends_documentation_fragment:
  - skerry.cloud.api
  - skerry.cloud.api.attributes
  - skerry.cloud.api.wait
author: Skerry contributors (@skerry)
'''

EXAMPLES = r'''
- name: Create a volume and attach it
  skerry.cloud.volume:
    name: data
    state: attached
    server: web-1
    size_gb: 50
  register: data

- name: Put a file system on it
  community.general.filesystem:
    dev: "{{ data.volume.device }}"
    fstype: ext4
  delegate_to: web-1

- name: Enlarge it
  skerry.cloud.volume:
    name: data
    size_gb: 100

- name: Delete it
  skerry.cloud.volume:
    name: data
    state: absent
    force: true
'''

RETURN = r'''
volume:
  description:
    - The volume as the API returns it, or null if it is deleted. In check mode, the volume as it would be.
  returned: success
  type: dict
  contains:
    id:
      description: ID of the volume.
      type: str
      sample: vol_aaaqk3m7qzb5x2l6v4t7n8wyja
    size_gb:
      description: Size in GiB.
      type: int
      sample: 50
    attached_to:
      description: ID of the server, or null.
      type: str
    device:
      description: Path of the block device while attached.
      type: str
      sample: /dev/vdb
'''

from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure
from ansible_collections.skerry.cloud.plugins.module_utils.find import SERVER, VOLUME, find_own, require_named
from ansible_collections.skerry.cloud.plugins.module_utils.labels import label_texts
from ansible_collections.skerry.cloud.plugins.module_utils.module import WAIT_OPTIONS, execute, view
from ansible_collections.skerry.cloud.plugins.module_utils.protection import (
    DELETE, predict, protection_patch, require_unprotected, wanted_protection)
from ansible_collections.skerry.cloud.plugins.module_utils.servers import settle

OPTIONS = dict(
    WAIT_OPTIONS,
    name={'type': 'str'},
    id={'type': 'str'},
    state={'type': 'str', 'choices': ['present', 'absent', 'attached', 'detached'], 'default': 'present'},
    size_gb={'type': 'int'},
    region={'type': 'str'},
    server={'type': 'str'},
    encrypted={'type': 'bool'},
    filesystem={'type': 'str'},
    labels={'type': 'dict'},
    protection=DELETE,
    force={'type': 'bool', 'default': False},
)
DIFF_FIELDS = ('name', 'size_gb', 'region', 'attached_to', 'encrypted', 'filesystem', 'labels', 'protection')


def manage_volume(run):
    run.params['labels'] = label_texts(run.params['labels'])
    state = run.params['state']
    if run.params['server'] is not None and state != 'attached':
        raise Failure('server is allowed only with state=attached')
    found = find_own(run, VOLUME)
    before = view(found, DIFF_FIELDS)
    if state == 'absent':
        delete(run, found)
        return {'volume': None, 'before': before}
    server = None
    if state == 'attached':
        server = require_named(run, SERVER, run.params['server'], 'server')
    volume = create(run, server) if found is None else update(run, found)
    if server is not None and volume['attached_to'] != server['id']:
        volume = attach(run, volume, settle(run, server))
    elif state == 'detached':
        volume = detach(run, volume)
    return {'volume': volume, 'before': before, 'after': view(volume, DIFF_FIELDS)}


def delete(run, found):
    if found is None:
        return
    require_unprotected('volume', found, 'delete')
    if found['attached_to'] is not None and not run.params['force']:
        raise Failure('cannot delete the volume %s: it is attached to the server %s; detach it first, or set '
                      'force=true' % (found['name'], found['attached_to']))
    detached = detach(run, found)
    run.change(None, lambda: run.client.delete(VOLUME.path(detached['id'])))


def create(run, server):
    if server is not None and run.params['region'] is None:
        run.params['region'] = server['region']
    body = run.require('volume', ('name', 'size_gb', 'region'))
    body.update((option, run.params[option]) for option in ('encrypted', 'filesystem', 'labels')
                if run.params[option] is not None)
    if wanted_protection(run):
        body['protection'] = wanted_protection(run)
    predicted = dict({'object': 'volume', 'id': None, 'attached_to': None, 'device': None, 'encrypted': False,
                      'filesystem': None, 'labels': {}}, **body)
    return run.change(predicted, lambda: run.client.post('/volumes', body))


def update(run, found):
    run.refuse_changes('volume', found, ('region', 'encrypted', 'filesystem'))
    patch = dict(run.differences(found, ('name', 'size_gb', 'labels')), **protection_patch(run, found))
    if patch.get('size_gb', found['size_gb']) < found['size_gb']:
        raise Failure('size_gb: the volume %s has %d GiB and cannot shrink to %d'
                      % (found['name'], found['size_gb'], patch['size_gb']))
    if not patch:
        return found
    return run.change(predict(found, patch), lambda: run.client.patch(VOLUME.path(found['id']), patch))


def attach(run, volume, server):
    require_attachable(volume, server)
    volume = detach(run, volume)
    predicted = dict(volume, attached_to=server['id'])
    return run.change(
        predicted, lambda: run.client.post(VOLUME.path(volume['id'], 'attach'), {'server': server['id']}))


def require_attachable(volume, server):
    """Fails before the volume leaves the server that uses it."""
    if server.get('region', volume['region']) != volume['region']:
        raise Failure('server: the volume %s is in %s, but the server %s is in %s'
                      % (volume['name'], volume['region'], server['name'], server['region']))


def detach(run, volume):
    if volume['attached_to'] is None:
        return volume
    predicted = dict(volume, attached_to=None, device=None)
    return run.change(predicted, lambda: run.client.post(VOLUME.path(volume['id'], 'detach')))


def main():
    execute(
        OPTIONS,
        manage_volume,
        required_one_of=[('id', 'name')],
        required_if=[('state', 'attached', ['server'])],
    )


if __name__ == '__main__':
    main()
