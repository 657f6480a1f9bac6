#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

DOCUMENTATION = r'''
module: resource_info
short_description: List plans, regions, images, and other resources
version_added: 0.1.0
description:
  - Returns the resources of one kind. For servers, M(skerry.cloud.server_info) also filters by label.
options:
  kind:
    description: Kind of the resources. C(limit) are the quotas of the account, with their use.
    type: str
    choices: [alert, firewall_group, image, limit, plan, region, server, snapshot, ssh_key, volume]
    required: true
  filters:
    description:
      - Filters of the list in the API, by field.
      - For images, C(family), C(arch), and C(type). For plans, C(category). For regions, C(country).
      - For snapshots, C(server), C(status), and C(name). For volumes, C(region), C(attached_to), and C(name).
      - For SSH keys, C(name) and C(type). For firewall groups, C(name).
    type: dict
    default: {}
extends_documentation_fragment:
  - skerry.cloud.api
  - skerry.cloud.api.info
author: Skerry contributors (@skerry)
'''

EXAMPLES = r'''
- name: List the images of Debian
  skerry.cloud.resource_info:
    kind: image
    filters: {family: debian}
  register: debian

- name: Show the plans that are available in Paris
  skerry.cloud.resource_info:
    kind: plan
  register: plans

- name: Show their IDs
  ansible.builtin.debug:
    msg: "{{ plans.resources | selectattr('available_in', 'contains', 'par') | map(attribute='id') | list }}"
'''

RETURN = r'''
resources:
  description: The resources as the API returns them.
  returned: success
  type: list
  elements: dict
  sample: [{id: s1, object: plan, category: vps, cpu: 1}]
'''

from ansible_collections.skerry.cloud.plugins.module_utils.module import execute

LISTS = {
    'alert': '/alerts',
    'firewall_group': '/firewall/groups',
    'image': '/images',
    'limit': '/account/limits',
    'plan': '/plans',
    'region': '/regions',
    'server': '/servers',
    'snapshot': '/snapshots',
    'ssh_key': '/ssh-keys',
    'volume': '/volumes',
}
OPTIONS = {
    'kind': {'type': 'str', 'choices': sorted(LISTS), 'required': True},
    'filters': {'type': 'dict', 'default': {}},
}


def list_resources(run):
    return {'resources': run.client.list(LISTS[run.params['kind']], run.params['filters'])}


def main():
    execute(OPTIONS, list_resources)


if __name__ == '__main__':
    main()
