#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

DOCUMENTATION = r'''
module: server_info
short_description: List servers
version_added: 0.1.0
description:
  - Returns the servers that match every option. Without options, returns all servers.
options:
  id:
    description: ID of the server.
    type: str
  name:
    description: Name of the servers.
    type: str
  status:
    description: Status of the servers.
    type: str
    choices: [provisioning, installing, running, stopped, suspended, destroying]
  region:
    description: Code of the region.
    type: str
  plan:
    description: ID of the plan.
    type: str
  image:
    description: ID of the image.
    type: str
  tag:
    description: A tag of the servers.
    type: str
  labels:
    description: Labels that the servers have.
    type: dict
extends_documentation_fragment:
  - skerry.cloud.api
  - skerry.cloud.api.info
author: Skerry contributors (@skerry)
'''

EXAMPLES = r'''
- name: List the running servers of the production environment
  skerry.cloud.server_info:
    status: running
    labels: {env: prod}
  register: prod

- name: Show their addresses
  ansible.builtin.debug:
    msg: "{{ prod.servers | map(attribute='ipv4.address') | list }}"
'''

RETURN = r'''
servers:
  description: The servers as the API returns them, newest first.
  returned: success
  type: list
  elements: dict
  sample: [{id: srv_aaaqk3m7qzb5x2l6v4t7n8wyja, name: web-1, status: running, region: par}]
'''

from ansible_collections.skerry.cloud.plugins.module_utils.find import SERVER
from ansible_collections.skerry.cloud.plugins.module_utils.labels import has_labels, label_texts
from ansible_collections.skerry.cloud.plugins.module_utils.module import execute

STATUSES = ['provisioning', 'installing', 'running', 'stopped', 'suspended', 'destroying']
FILTERS = ('name', 'status', 'region', 'plan', 'image', 'tag')
OPTIONS = dict(
    {name: {'type': 'str'} for name in FILTERS},
    id={'type': 'str'},
    status={'type': 'str', 'choices': STATUSES},
    labels={'type': 'dict'},
)


def list_servers(run):
    params = run.params
    labels = label_texts(params['labels'])
    filters = {name: params[name] for name in FILTERS if params[name] is not None}
    if params['id'] is None:
        servers = run.client.list('/servers', filters)
    else:
        found = run.client.find(SERVER.path(params['id']))
        servers = [] if found is None else [found]
    return {'servers': [server for server in servers if has_labels(server, labels)]}


def main():
    execute(OPTIONS, list_servers, mutually_exclusive=[('id', name) for name in FILTERS])


if __name__ == '__main__':
    main()
