#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

DOCUMENTATION = r'''
module: alert
short_description: Create, change, and delete alerts on metrics of servers
version_added: 0.1.0
description:
  - An alert sends an event and an email when its condition is met.
  - An alert is found by I(id), or by I(name) if only one alert has it.
options:
  name:
    description: Name of the alert. With I(id), the name that the alert is to have.
    type: str
  id:
    description: ID of an existing alert.
    type: str
  state:
    description: Whether the account has the alert.
    type: str
    choices: [present, absent]
    default: present
  metric:
    description:
      - What the alert watches. Required for a new alert.
      - C(unreachable) has no I(compare) and no I(value).
    type: str
    choices: [cpu_pct, ram_pct, disk_write_bps, net_out_bps, transfer_pct, unreachable]
  compare:
    description: Above or below the value. The service uses C(gt) if you omit it.
    type: str
    choices: [gt, lt]
  value:
    description: Percent, or bytes per second. Required for a metric that is compared.
    type: float
  window:
    description: How long the condition must be met. The service uses C(5m) if you omit it.
    type: str
    choices: [5m, 10m, 30m, 1h]
  servers:
    description: Names or IDs of the servers to watch. Replaces the whole list.
    type: list
    elements: str
  label_selector:
    description:
      - Labels that a server must have, all of them, such as C(env=prod,team=web).
      - Empty text selects all servers.
      - A new alert requires this or I(servers).
    type: str
  enabled:
    description: Whether the alert is evaluated. The service uses true if you omit it.
    type: bool
extends_documentation_fragment:
  - skerry.cloud.api
  - skerry.cloud.api.attributes
author: Skerry contributors (@skerry)
'''

EXAMPLES = r'''
- name: Watch the CPUs of a server
  skerry.cloud.alert:
    name: busy
    metric: cpu_pct
    value: 90
    window: 10m
    servers: [web-1]

- name: Watch all servers of an environment
  skerry.cloud.alert:
    name: down
    metric: unreachable
    label_selector: env=prod

- name: Delete an alert
  skerry.cloud.alert:
    name: busy
    state: absent
'''

RETURN = r'''
alert:
  description: The alert as the API returns it, or null if it is deleted. In check mode, as it would be.
  returned: success
  type: dict
  contains:
    id:
      description: ID of the alert.
      type: str
      sample: alr_aaaqk3m7qzb5x2l6v4t7n8wyja
    servers:
      description: IDs of the servers, or null if labels select them.
      type: list
      elements: str
    firing:
      description: The servers for which the alert fires now, and since when.
      type: list
      elements: dict
'''

from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure
from ansible_collections.skerry.cloud.plugins.module_utils.find import ALERT, SERVER, find_own, named_ids
from ansible_collections.skerry.cloud.plugins.module_utils.module import execute, view

METRICS = ['cpu_pct', 'ram_pct', 'disk_write_bps', 'net_out_bps', 'transfer_pct', 'unreachable']
OPTIONS = {
    'name': {'type': 'str'},
    'id': {'type': 'str'},
    'state': {'type': 'str', 'choices': ['present', 'absent'], 'default': 'present'},
    'metric': {'type': 'str', 'choices': METRICS},
    'compare': {'type': 'str', 'choices': ['gt', 'lt']},
    'value': {'type': 'float'},
    'window': {'type': 'str', 'choices': ['5m', '10m', '30m', '1h']},
    'servers': {'type': 'list', 'elements': 'str'},
    'label_selector': {'type': 'str'},
    'enabled': {'type': 'bool'},
}
RULE = ('metric', 'compare', 'value', 'window', 'enabled')
DIFF_FIELDS = ('name',) + RULE + ('servers', 'label_selector')


def manage_alert(run):
    found = find_own(run, ALERT)
    before = view(found, DIFF_FIELDS)
    if run.params['state'] == 'absent':
        if found is not None:
            run.change(None, lambda: run.client.delete(ALERT.path(found['id'])))
        return {'alert': None, 'before': before}
    alert = create(run) if found is None else update(run, found)
    return {'alert': alert, 'before': before, 'after': view(alert, DIFF_FIELDS)}


def create(run):
    body = run.require('alert', ('name', 'metric'))
    watched = selection(run, {'servers': None, 'label_selector': None})
    if not watched:
        raise Failure('to create the alert %s, set servers or label_selector' % body['name'])
    body.update((option, run.params[option]) for option in RULE if run.params[option] is not None)
    is_compared = body['metric'] != 'unreachable'
    defaults = {'object': 'alert', 'id': None, 'compare': 'gt' if is_compared else None, 'value': None,
                'window': '5m', 'servers': None, 'label_selector': None, 'enabled': True, 'firing': []}
    body.update(watched)
    return run.change(dict(defaults, **body), lambda: run.client.post('/alerts', body))


def update(run, found):
    patch = run.differences(found, ('name',) + RULE)
    if 'metric' in patch and run.params['value'] is not None:
        # A value of another metric has another unit, so the service wants it again.
        patch['value'] = run.params['value']
    watched = selection(run, found)
    patch.update(watched)
    if not patch:
        return found
    other = {'servers': 'label_selector', 'label_selector': 'servers'}
    predicted = dict(found, **patch)
    predicted.update((other[option], None) for option in watched)
    if patch.get('metric') == 'unreachable':
        predicted.update(compare=None, value=None)
    return run.change(predicted, lambda: run.client.patch(ALERT.path(found['id']), patch))


def selection(run, found):
    """Returns the option that selects servers if it differs from that of the alert."""
    servers, selector = run.params['servers'], run.params['label_selector']
    if servers is not None:
        ids = named_ids(run, SERVER, servers, 'servers')
        is_same = found['servers'] is not None and set(ids) == set(found['servers'])
        return {} if is_same else {'servers': ids}
    if selector is None or pairs(selector) == pairs(found['label_selector']):
        return {}
    return {'label_selector': selector}


def pairs(selector):
    """Returns the pairs of a selector, whose order has no effect."""
    return selector and sorted(pair.strip().replace('==', '=', 1) for pair in selector.split(','))


def main():
    execute(
        OPTIONS,
        manage_alert,
        required_one_of=[('id', 'name')],
        mutually_exclusive=[('servers', 'label_selector')],
    )


if __name__ == '__main__':
    main()
