# SPDX-License-Identifier: Apache-2.0
"""The backup policy of a server."""

from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure
from ansible_collections.skerry.cloud.plugins.module_utils.find import SERVER
from ansible_collections.skerry.cloud.plugins.module_utils.module import view

WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
BACKUPS = {
    'type': 'dict',
    'options': {
        'enabled': {'type': 'bool', 'default': True},
        'every': {'type': 'str', 'choices': ['day', 'week']},
        'weekday': {'type': 'str', 'choices': WEEKDAYS},
        'hour_utc': {'type': 'int'},
        'keep': {'type': 'int'},
    },
}
FIELDS = ('enabled', 'every', 'weekday', 'hour_utc', 'keep')


def wanted_backups(run):
    """Returns the members of the option that the task sets; None without the option."""
    given = run.params['backups']
    if given is None:
        return None
    wanted = {name: value for name, value in given.items() if value is not None}
    if wanted.get('every') == 'week' and 'weekday' not in wanted:
        raise Failure('backups: weekly backups require weekday')
    if wanted.get('every') != 'week' and 'weekday' in wanted:
        raise Failure('backups: weekday requires every=week')
    return wanted


def find_policy(run, found):
    """Returns the policy of an existing server; None if the task does not need it."""
    if found is None or run.params['backups'] is None:
        return None
    return run.client.get(policy_path(found))


def merge(policy, wanted):
    """Returns the policy that the task describes: members that it omits keep their value."""
    merged = dict(view(policy, FIELDS), **wanted)
    if merged['every'] == 'day':
        merged['weekday'] = None
    return merged


def set_backups(run, server, policy, wanted):
    """Changes the policy if it differs, and returns the server, whose price contains that of its backups."""
    body = merge(policy, wanted)
    if body == view(policy, FIELDS):
        return server
    if body['enabled']:
        # Charges no more than the price at the start of this task.
        # It may rise by a cent before it is charged.
        body['max_price_usd'] = round(policy['price_usd_now'] + 0.01, 2)
    run.change(None, lambda: run.client.put(policy_path(server), body))
    return server if run.module.check_mode else run.client.get(SERVER.path(server['id']))


def policy_path(server):
    return SERVER.path(server['id'], 'backup-policy')
