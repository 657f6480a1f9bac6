# SPDX-License-Identifier: Apache-2.0
"""Waits until a server or a snapshot reaches a status, or can no longer reach it."""

import time

from ansible_collections.skerry.cloud.plugins.module_utils.client import (
    ApiError, ConnectionFailure, Failure, path)

# Many operations finish at once and others take a minute: the first polls are close together.
FIRST_PAUSES_S = (0.3, 0.7, 1)
POLL_S = 2
NOT_READY = ('provisioning', 'installing')


class WaitFailure(Failure):
    """The status was not reached. The result of the module shows the resource as it was observed last."""

    def __init__(self, message, resource):
        super().__init__(message)
        self._resource = resource

    def details(self):
        return {self._resource['object']: self._resource}


def wait_for_status(run, kind, started, statuses, final=()):
    """Polls until the resource has one of the statuses, and returns it. None is the status of a deleted one.

    `final` are statuses that never change without another request.
    """
    timeout_s = run.params['wait_timeout']
    deadline = time.monotonic() + timeout_s
    last, polls = started, 0
    while last['status'] not in statuses:
        time.sleep(FIRST_PAUSES_S[polls] if polls < len(FIRST_PAUSES_S) else POLL_S)
        polls += 1
        is_late = time.monotonic() > deadline
        try:
            seen = run.client.find(kind.path(started['id']))
        except (ApiError, ConnectionFailure) as error:
            # The operation continues while the service is unreachable.
            if is_late or getattr(error, 'status', 500) < 500:
                raise
            continue
        if seen is None and None in statuses:
            return None
        if seen is None or (seen['status'] in final and seen['status'] not in statuses):
            raise WaitFailure(describe_end(kind, last, seen), seen or last)
        last = seen
        if is_late and last['status'] not in statuses:
            message = 'the %s %s is still %s after %d s; the operation continues'
            raise WaitFailure(message % (kind.noun, last['name'], last['status'], timeout_s), last)
    return last


def wait_for_action(run, started):
    """Polls until the action that a resource shows has ended, and fails with its cause."""
    action = started.get('action')
    timeout_s = run.params['wait_timeout']
    deadline = time.monotonic() + timeout_s
    polls = 0
    while action is not None and action['status'] == 'running':
        time.sleep(FIRST_PAUSES_S[polls] if polls < len(FIRST_PAUSES_S) else POLL_S)
        polls += 1
        is_late = time.monotonic() > deadline
        try:
            action = run.client.find(path('/actions', action['id']))
        except (ApiError, ConnectionFailure) as error:
            # The operation continues while the service is unreachable.
            if is_late or getattr(error, 'status', 500) < 500:
                raise
            continue
        if is_late and action is not None and action['status'] == 'running':
            message = '%s of the server %s is still running after %d s; the operation continues'
            raise WaitFailure(message % (action['command'], started['name'], timeout_s), started)
    if action is not None and action.get('error'):
        raise WaitFailure('%s of the server %s failed: %s'
                          % (action['command'], started['name'], action['error']['message']), started)


def describe_end(kind, before, seen):
    """Explains why a status can no longer be reached. None is a deleted resource."""
    subject = 'the %s %s' % (kind.noun, before['name'])
    status = 'deleted' if seen is None else seen['status']
    is_new = before['status'] in NOT_READY and before['ipv4'] is None
    if is_new and status in ('deleted', 'destroying'):
        # A server that ends before its first run is refunded in full.
        refund = before['price_usd_cycle']
        return '%s could not be provisioned, or was deleted; %.2f USD was refunded' % (subject, refund)
    return '%s is now %s' % (subject, status)
