# SPDX-License-Identifier: Apache-2.0
"""Gives an existing server another plan."""

from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure
from ansible_collections.skerry.cloud.plugins.module_utils.find import SERVER
from ansible_collections.skerry.cloud.plugins.module_utils.wait import wait_for_action


def require_resizable(run, found):
    """Fails, also in check mode, if the task may not or the service would not give the server its plan."""
    plan = run.params['plan']
    if plan in (None, found['plan']):
        return
    is_stopping = run.params['state'] == 'stopped'
    if found['status'] == 'running' and not is_stopping and not run.params['allow_restart']:
        raise Failure('cannot change plan of a running server: plan is %s, not %s; set allow_restart=true to '
                      'resize and restart it' % (found['plan'], plan))
    refusal = quote(run, found)['refusal']
    if refusal is not None:
        raise Failure('plan: the server %s cannot be resized from %s to %s: %s'
                      % (found['name'], found['plan'], plan, refusal['message']))


def quote(run, server):
    params = {'plan': run.params['plan'], 'resize_disk': run.params['resize_disk'], 'restart': True}
    body = {'operation': 'server.resize', 'resource': server['id'], 'params': params}
    return run.client.post('/quotes', body)


def resize(run, server):
    plan = run.params['plan']
    if plan in (None, server['plan']):
        return server
    body = {'plan': plan, 'resize_disk': run.params['resize_disk'], 'restart': server['status'] == 'running'}
    if not run.module.check_mode:
        # Charges no more than the price at the start of this task.
        body['quote'] = quote(run, server)['id']
    url = SERVER.path(server['id'], 'resize')
    resized = run.change(dict(server, plan=plan), lambda: run.client.post(url, body, is_beta=True))
    if run.module.check_mode or not run.params['wait']:
        return resized
    wait_for_action(run, resized)
    return run.client.get(SERVER.path(server['id']))
