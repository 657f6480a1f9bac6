#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

DOCUMENTATION = r'''
module: firewall_group
short_description: Manage firewall groups, their rules, and their servers
version_added: 0.1.0
description:
  - A firewall group is found by I(id), or by I(name) if only one group has it.
  - Packets are filtered outside of the servers.
options:
  name:
    description: Name of the group. With I(id), the name that the group is to have.
    type: str
  id:
    description: ID of an existing group.
    type: str
  state:
    description: Whether the group exists.
    type: str
    choices: [present, absent]
    default: present
  default_action:
    description:
      - Action for packets that match no rule. It applies to inbound traffic, and to outbound traffic once a
        group of the server has an outbound rule. Required for a new group. C(drop) is recommended.
    type: str
    choices: [drop, accept]
  rules:
    description: The rules in order. The first match wins. Replaces all rules.
    type: list
    elements: dict
    suboptions:
      direction:
        description: Direction of the traffic.
        type: str
        choices: [in, out]
        default: in
      proto:
        description: Protocol.
        type: str
        choices: [tcp, udp, icmp, any]
        required: true
      port:
        description:
          - A port, a comma-separated list, or a range such as C(8000-8999). Every port if you omit it.
          - Only with tcp and udp.
        type: str
      source:
        description:
          - CIDR of the remote address, such as C(0.0.0.0/0) and C(::/0). An IPv4 CIDR never matches IPv6.
        type: str
        required: true
      action:
        description: Action for packets that match.
        type: str
        choices: [accept, drop, reject]
        default: accept
      note:
        description: A comment.
        type: str
  servers:
    description: Names or IDs of the servers that the group applies to. Replaces all servers.
    type: list
    elements: str
  attach:
    description: Names or IDs of servers to apply the group to, in addition to the others.
    type: list
    elements: str
  detach:
    description: Names or IDs of servers to remove from the group. Servers that do not exist are ignored.
    type: list
    elements: str
  force:
    description: Whether I(state=absent) may delete a group that is applied to servers. They lose its rules.
    type: bool
    default: false
extends_documentation_fragment:
  - skerry.cloud.api
  - skerry.cloud.api.attributes
author: Skerry contributors (@skerry)
'''

EXAMPLES = r'''
- name: Allow web traffic, and SSH from the office
  skerry.cloud.firewall_group:
    name: web
    default_action: drop
    rules:
      - {proto: tcp, port: "80,443", source: 0.0.0.0/0}
      - {proto: tcp, port: "80,443", source: "::/0"}
      - {proto: tcp, port: 22, source: 198.51.100.0/24, note: the office}
    servers: [web-1, web-2]

- name: Add a server, and keep the others
  skerry.cloud.firewall_group:
    name: web
    attach: [web-3]

- name: Delete the group
  skerry.cloud.firewall_group:
    name: web
    state: absent
    force: true
'''

RETURN = r'''
firewall_group:
  description:
    - The group as the API returns it, or null if it is deleted. In check mode, the group as it would be.
  returned: success
  type: dict
  contains:
    id:
      description: ID of the group.
      type: str
      sample: fwg_aaaqk3m7qzb5x2l6v4t7n8wyja
    applied_to:
      description: IDs of the servers that the group applies to.
      type: list
      elements: str
    rules:
      description: The rules in order, with their IDs.
      type: list
      elements: dict
'''

import ipaddress

from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure
from ansible_collections.skerry.cloud.plugins.module_utils.find import (
    FIREWALL_GROUP, SERVER, find_named, find_own, named_ids)
from ansible_collections.skerry.cloud.plugins.module_utils.module import execute, view

RULE_OPTIONS = {
    'direction': {'type': 'str', 'choices': ['in', 'out'], 'default': 'in'},
    'proto': {'type': 'str', 'choices': ['tcp', 'udp', 'icmp', 'any'], 'required': True},
    'port': {'type': 'str'},
    'source': {'type': 'str', 'required': True},
    'action': {'type': 'str', 'choices': ['accept', 'drop', 'reject'], 'default': 'accept'},
    'note': {'type': 'str'},
}
OPTIONS = {
    'name': {'type': 'str'},
    'id': {'type': 'str'},
    'state': {'type': 'str', 'choices': ['present', 'absent'], 'default': 'present'},
    'default_action': {'type': 'str', 'choices': ['drop', 'accept']},
    'rules': {'type': 'list', 'elements': 'dict', 'options': RULE_OPTIONS},
    'servers': {'type': 'list', 'elements': 'str'},
    'attach': {'type': 'list', 'elements': 'str'},
    'detach': {'type': 'list', 'elements': 'str'},
    'force': {'type': 'bool', 'default': False},
}
DIFF_FIELDS = ('name', 'default_action', 'rules', 'applied_to')


def manage_group(run):
    found = find_own(run, FIREWALL_GROUP)
    before = show(found)
    if run.params['state'] == 'absent':
        delete(run, found)
        return {'firewall_group': None, 'before': before}
    group = create(run) if found is None else update(run, found)
    return {'firewall_group': group, 'before': before, 'after': show(group)}


def show(group):
    """Returns the fields for the diff. The IDs of rules change whenever rules are replaced."""
    return group and dict(view(group, DIFF_FIELDS), rules=[comparable(rule) for rule in group['rules']])


def comparable(rule):
    """Returns a rule without its ID, and with the CIDR as the service writes it."""
    known = {name: rule.get(name) for name in RULE_OPTIONS}
    try:
        known['source'] = str(ipaddress.ip_network(known['source']))
    except ValueError:
        pass  # The service explains which CIDR it accepts.
    return known


def delete(run, found):
    if found is None:
        return
    url = FIREWALL_GROUP.path(found['id'])
    if found['applied_to'] and not run.params['force']:
        raise Failure('cannot delete the firewall group %s: it is applied to %s; detach the servers, or set '
                      'force=true' % (found['name'], ', '.join(found['applied_to'])))
    if found['applied_to']:
        run.change(None, lambda: run.client.patch(url, {'applied_to': []}))
    run.change(None, lambda: run.client.delete(url))


def create(run):
    body = run.require('firewall group', ('name', 'default_action'))
    body.update(rules=run.params['rules'] or [], applied_to=wanted_servers(run, []))
    predicted = dict({'object': 'firewall_group', 'id': None}, **body)
    return run.change(predicted, lambda: run.client.post('/firewall/groups', body))


def update(run, found):
    group = found
    url = FIREWALL_GROUP.path(found['id'])
    rules = run.params['rules']
    if rules is not None and list(map(comparable, rules)) != list(map(comparable, found['rules'])):
        predicted = dict(group, rules=rules)
        group = run.change(predicted, lambda: run.client.put('%s/rules' % url, {'rules': rules}))
    patch = run.differences(group, ('name', 'default_action'))
    servers = wanted_servers(run, found['applied_to'])
    predicted = dict(group, applied_to=servers, **patch)
    attached = [one for one in servers if one not in found['applied_to']]
    detached = [one for one in found['applied_to'] if one not in servers]
    # Two tasks at the same time keep each other's servers.
    patch.update((name, ids) for name, ids in (('attach', attached), ('detach', detached)) if ids)
    return run.change(predicted, lambda: run.client.patch(url, patch)) if patch else group


def wanted_servers(run, current):
    """Returns the IDs of the servers that the group is to apply to."""
    servers, attach = run.params['servers'], run.params['attach'] or []
    if servers is not None:
        return named_ids(run, SERVER, servers, 'servers')
    added = named_ids(run, SERVER, attach, 'attach')
    named = [find_named(run.client, SERVER, text, 'detach') for text in run.params['detach'] or []]
    removed = [server['id'] for server in named if server is not None]
    both = [one for one in added if one in removed]
    if both:
        raise Failure('detach: the server %s is also in attach' % both[0])
    return [one for one in dict.fromkeys(current + added) if one not in removed]


def main():
    execute(
        OPTIONS,
        manage_group,
        required_one_of=[('id', 'name')],
        mutually_exclusive=[('servers', 'attach'), ('servers', 'detach')],
    )


if __name__ == '__main__':
    main()
