#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

DOCUMENTATION = r'''
module: snapshot
short_description: Create, change, and delete snapshots of servers
version_added: 0.1.0
description:
  - A snapshot is found by I(id), or by I(name) if only one snapshot of I(server) has it.
  - A snapshot contains the disk of a running or stopped server, as after a power failure.
  - Volumes are not part of it.
options:
  name:
    description: Name of the snapshot. With I(id), the name that the snapshot is to have.
    type: str
  id:
    description: ID of an existing snapshot.
    type: str
  state:
    description: Whether the snapshot exists.
    type: str
    choices: [present, absent]
    default: present
  server:
    description:
      - Name or ID of the server. Required for a new snapshot.
      - Snapshots outlive their server. Omit I(server) to delete a snapshot of a server that no longer exists.
    type: str
  expires_at:
    description:
      - Time at which the snapshot is deleted automatically, such as C(2030-01-31T00:00:00Z).
      - An empty text means never, which is the default.
    type: str
  protection:
    description:
      - Protects the snapshot against mistakes. Lift the protection in a task before the task that deletes it.
    type: dict
    suboptions:
      delete:
        description: Whether the snapshot cannot be deleted.
        type: bool
extends_documentation_fragment:
  - skerry.cloud.api
  - skerry.cloud.api.attributes
  - skerry.cloud.api.wait
author: Skerry contributors (@skerry)
'''

EXAMPLES = r'''
- name: Create a snapshot before an upgrade, and wait until it is ready
  skerry.cloud.snapshot:
    server: web-1
    name: before-upgrade

- name: Delete it
  skerry.cloud.snapshot:
    server: web-1
    name: before-upgrade
    state: absent
'''

RETURN = r'''
snapshot:
  description:
    - The snapshot as the API returns it, or null if it is deleted.
    - In check mode, the snapshot as it would be.
  returned: success, and if the wait fails
  type: dict
  contains:
    id:
      description: ID of the snapshot.
      type: str
      sample: snap_aaaqk3m7qzb5x2l6v4t7n8wyja
    status:
      description: One of creating, ready, and error.
      type: str
      sample: ready
    size_gb:
      description: Size in GiB.
      type: float
'''

import datetime
import re

from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure
from ansible_collections.skerry.cloud.plugins.module_utils.find import (
    SERVER, SNAPSHOT, find_own, require_named)
from ansible_collections.skerry.cloud.plugins.module_utils.module import WAIT_OPTIONS, execute, view
from ansible_collections.skerry.cloud.plugins.module_utils.protection import (
    DELETE, predict, protection_patch, require_unprotected, wanted_protection)
from ansible_collections.skerry.cloud.plugins.module_utils.servers import settle
from ansible_collections.skerry.cloud.plugins.module_utils.wait import wait_for_status

OPTIONS = dict(
    WAIT_OPTIONS,
    name={'type': 'str'},
    id={'type': 'str'},
    state={'type': 'str', 'choices': ['present', 'absent'], 'default': 'present'},
    server={'type': 'str'},
    expires_at={'type': 'str'},
    protection=DELETE,
)
DIFF_FIELDS = ('name', 'server', 'status', 'expires_at', 'protection')


def manage_snapshot(run):
    server = None
    if run.params['server'] is not None:
        server = require_named(run, SERVER, run.params['server'], 'server')
    found = find_own(run, SNAPSHOT, {} if server is None else {'server': server['id']})
    before = view(found, DIFF_FIELDS)
    if run.params['state'] == 'absent':
        delete(run, found)
        return {'snapshot': None, 'before': before}
    snapshot = create(run, server) if found is None else update(run, found, server)
    if run.params['wait'] and not run.module.check_mode and snapshot['status'] != 'ready':
        snapshot = wait_for_status(run, SNAPSHOT, snapshot, ('ready',), final=('error',))
    return {'snapshot': snapshot, 'before': before, 'after': view(snapshot, DIFF_FIELDS)}


def create(run, server):
    run.require('snapshot', ('name', 'server'))
    body = {'name': run.params['name'], 'expires_at': run.params['expires_at'] or None}
    if wanted_protection(run):
        body['protection'] = wanted_protection(run)
    predicted = dict(body, object='snapshot', id=None, server=server['id'], status='ready')
    ready = settle(run, server)
    return run.change(predicted, lambda: run.client.post(SERVER.path(ready['id'], 'snapshots'), body))


def update(run, found, server):
    if server is not None and server['id'] != found['server']:
        raise Failure('server: the snapshot %s is of the server %s' % (found['name'], found['server']))
    if found['status'] == 'error':
        raise Failure('the snapshot %s failed; delete it before you create it again' % found['name'])
    patch = dict(run.differences(found, ('name',)), **protection_patch(run, found))
    expires_at = run.params['expires_at']
    if expires_at is not None and seconds(expires_at) != seconds(found['expires_at']):
        patch['expires_at'] = expires_at or None
    if not patch:
        return found
    return run.change(predict(found, patch), lambda: run.client.patch(SNAPSHOT.path(found['id']), patch))


def seconds(text):
    """Returns a time as a number; None for no time. The service explains which times it accepts."""
    if not text:
        return None
    try:
        return datetime.datetime.fromisoformat(re.sub(r'[Zz]$', '+00:00', text)).timestamp()
    except ValueError:
        return text


def delete(run, found):
    if found is None:
        return
    require_unprotected('snapshot', found, 'delete')
    if found['status'] == 'creating' and run.params['wait'] and not run.module.check_mode:
        # A snapshot that is being created cannot be deleted.
        found = wait_for_status(run, SNAPSHOT, found, ('ready', 'error'))
    run.change(None, lambda: run.client.delete(SNAPSHOT.path(found['id'])))


def main():
    execute(OPTIONS, manage_snapshot, required_one_of=[('id', 'name')])


if __name__ == '__main__':
    main()
