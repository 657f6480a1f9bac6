#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

DOCUMENTATION = r'''
module: ssh_key
short_description: Add and delete SSH keys
version_added: 0.1.0
description:
  - An SSH key is found by I(id), or by I(name) if only one key has it.
  - Keys are written to the disk of a server when it is installed. Existing servers keep theirs.
options:
  name:
    description: Name of the key. Fixed after creation.
    type: str
  id:
    description: ID of an existing key.
    type: str
  state:
    description: Whether the account has the key.
    type: str
    choices: [present, absent]
    default: present
  public_key:
    description:
      - The line of a C(.pub) file. Required for a new key. The comment at its end is not compared.
    type: str
  force:
    description:
      - Whether to replace a key of the same name that is another key. Replacing it changes who has access to
        servers that you create later, so the module fails by default.
    type: bool
    default: false
extends_documentation_fragment:
  - skerry.cloud.api
  - skerry.cloud.api.attributes
author: Skerry contributors (@skerry)
'''

EXAMPLES = r'''
- name: Add a key
  skerry.cloud.ssh_key:
    name: deploy
    public_key: "{{ lookup('ansible.builtin.file', '~/.ssh/id_ed25519.pub') }}"

- name: Delete it
  skerry.cloud.ssh_key:
    name: deploy
    state: absent
'''

RETURN = r'''
ssh_key:
  description: The key as the API returns it, or null if it is deleted. In check mode, the key as it would be.
  returned: success
  type: dict
  contains:
    id:
      description: ID of the key.
      type: str
      sample: k_aaaqk3m7qzb5x2l6v4t7n8wyja
    name:
      description: Name of the key.
      type: str
      sample: deploy
    fingerprint:
      description: SHA-256 fingerprint.
      type: str
      sample: SHA256:uB4zBd9YfqL5Yh1L5kpSaw2x0Gm1cVtKZ0mJk7PqWfs
'''

import base64
import binascii
import hashlib

from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure
from ansible_collections.skerry.cloud.plugins.module_utils.find import SSH_KEY, find_own
from ansible_collections.skerry.cloud.plugins.module_utils.module import execute, view

OPTIONS = {
    'name': {'type': 'str'},
    'id': {'type': 'str'},
    'state': {'type': 'str', 'choices': ['present', 'absent'], 'default': 'present'},
    'public_key': {'type': 'str'},
    'force': {'type': 'bool', 'default': False},
}
DIFF_FIELDS = ('name', 'type', 'fingerprint')


def manage_ssh_key(run):
    found = find_own(run, SSH_KEY)
    before = view(found, DIFF_FIELDS)
    if run.params['state'] == 'absent':
        if found is not None:
            delete(run, found)
        return {'ssh_key': None, 'before': before}
    key = ensure_key(run, found)
    return {'ssh_key': key, 'before': before, 'after': view(key, DIFF_FIELDS)}


def ensure_key(run, found):
    public_key = run.params['public_key']
    if found is None:
        return create(run, run.require('SSH key', ('name', 'public_key'))['public_key'])
    run.refuse_changes('SSH key', found, ('name',))
    if public_key is None or fingerprint_of(public_key) == found['fingerprint']:
        return found
    if not run.params['force']:
        raise Failure('public_key: the SSH key %s is another key (%s); set force=true to replace it'
                      % (found['name'], found['fingerprint']))
    run.params['name'] = found['name']
    # The new key first: without it, nothing is deleted.
    key = create(run, public_key)
    delete(run, found)
    return key


def create(run, public_key):
    name = run.params['name']
    fingerprint = fingerprint_of(public_key)
    predicted = {'object': 'ssh_key', 'id': None, 'name': name, 'type': public_key.split()[0],
                 'fingerprint': fingerprint}
    body = {'name': name, 'public_key': public_key.strip()}
    return run.change(predicted, lambda: run.client.post('/ssh-keys', body))


def delete(run, found):
    run.change(None, lambda: run.client.delete(SSH_KEY.path(found['id'])))


def fingerprint_of(public_key):
    """Returns the fingerprint as ssh-keygen prints it."""
    try:
        blob = base64.b64decode(public_key.split()[1], validate=True)
    except (IndexError, binascii.Error) as error:
        message = 'public_key must be a line of a .pub file, such as "ssh-ed25519 AAAA… me@laptop"'
        raise Failure(message) from error
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode('ascii')
    return 'SHA256:%s' % digest.rstrip('=')


def main():
    execute(OPTIONS, manage_ssh_key, required_one_of=[('id', 'name')])


if __name__ == '__main__':
    main()
