# SPDX-License-Identifier: Apache-2.0
"""Brings a server to the state that a task describes."""

import base64

from ansible_collections.skerry.cloud.plugins.module_utils.backups import (
    FIELDS as BACKUP_FIELDS, find_policy, merge, set_backups, wanted_backups)
from ansible_collections.skerry.cloud.plugins.module_utils.client import Failure
from ansible_collections.skerry.cloud.plugins.module_utils.find import (
    FIREWALL_GROUP, SERVER, SSH_KEY, VOLUME, find_own, named_ids, require_named)
from ansible_collections.skerry.cloud.plugins.module_utils.images import (
    SNAPSHOT_PREFIX, image_name, is_installed, select_image)
from ansible_collections.skerry.cloud.plugins.module_utils.labels import label_texts
from ansible_collections.skerry.cloud.plugins.module_utils.module import view
from ansible_collections.skerry.cloud.plugins.module_utils.protection import (
    predict, protection_patch, require_unprotected, wanted_protection)
from ansible_collections.skerry.cloud.plugins.module_utils.resize import require_resizable, resize
from ansible_collections.skerry.cloud.plugins.module_utils.wait import NOT_READY, wait_for_status

# User data is not among them: it may contain secrets, and the API does not return it.
DIFF_FIELDS = ('name', 'status', 'plan', 'disk_gb', 'region', 'image', 'ssh_keys', 'tags', 'labels',
               'billing_months', 'auto_renew', 'protection', 'ipv4', 'ipv6')
READY = ('running', 'stopped')
FAMILIES = ('ipv4', 'ipv6')


def manage_server(run):
    """Returns the result of the module `server`."""
    run.params['labels'] = label_texts(run.params['labels'])
    found = find_own(run, SERVER)
    if run.params['state'] == 'absent':
        return delete(run, found)
    before = view(found, DIFF_FIELDS)
    groups = [require_named(run, FIREWALL_GROUP, text, 'firewall_groups')
              for text in run.params['firewall_groups'] or []]
    volumes = [require_named(run, VOLUME, text, 'volumes') for text in run.params['volumes'] or []]
    require_free(found, volumes)
    backups = wanted_backups(run)
    policy = find_policy(run, found)
    server = create(run, groups, volumes, backups) if found is None else update(run, found)
    if policy is not None:
        # Before a resize, whose price then contains them.
        server = set_backups(run, server, policy, backups)
    applied = [] if found is None else apply_groups(run, found, groups)
    if run.params['state'] == 'stopped':
        # A stopped server is not restarted by a resize.
        server = resize(run, set_power(run, server))
    else:
        server = set_power(run, resize(run, server))
    attached = [] if found is None else attach_volumes(run, server, volumes)
    server = set_rdns(run, server)
    after = view(server, DIFF_FIELDS)
    if groups:
        before = dict(before or {}, firewall_groups=applied)
        after['firewall_groups'] = [group['name'] for group in groups]
    if volumes:
        before = dict(before or {}, volumes=attached)
        after['volumes'] = [volume['name'] for volume in volumes]
    if backups is not None:
        if policy is not None:
            before = dict(before, backups=view(policy, BACKUP_FIELDS))
        after['backups'] = backups if policy is None else merge(policy, backups)
    return {'server': server, 'before': before, 'after': after}


def apply_groups(run, found, groups):
    """Adds an existing server to the groups, and returns the names of those that it was in."""
    applied = [group for group in groups if found['id'] in group.get('applied_to', [])]
    for group in groups:
        if group not in applied:
            attach_to(run, found, FIREWALL_GROUP.path(group['id']))
    return [group['name'] for group in applied]


def require_free(found, volumes):
    """Fails before anything changes: a task never takes a volume from another server."""
    for volume in volumes:
        holder = volume.get('attached_to')
        if holder is not None and (found is None or holder != found['id']):
            raise Failure('volumes: the volume %s is attached to the server %s; detach it first'
                          % (volume['name'], holder))


def attach_volumes(run, server, volumes):
    """Attaches volumes to an existing server, and returns the names of those that it had."""
    attached = [volume for volume in volumes if volume.get('attached_to') == server['id']]
    for volume in volumes:
        if volume not in attached:
            attach(run, VOLUME.path(volume['id'], 'attach'), server)
    return [volume['name'] for volume in attached]


def attach(run, url, server):
    run.change(None, lambda: run.client.post(url, {'server': server['id']}))


def attach_to(run, found, group_path):
    run.change(None, lambda: run.client.patch(group_path, {'attach': [found['id']]}))


def delete(run, found):
    before = view(found, DIFF_FIELDS)
    if found is None:
        return {'server': None, 'before': before, 'after': None}
    # An ID also finds a server that is being deleted already.
    if found['status'] == 'destroying':
        deleted = found
    else:
        require_unprotected('server', found, 'delete')
        deleted = run.change(found, lambda: run.client.delete(SERVER.path(found['id'])))
    if deleted is not None and run.params['wait'] and not run.module.check_mode:
        wait_for_status(run, SERVER, deleted, (None,))
    return {'server': None, 'before': before, 'after': None}


def create(run, groups, volumes, backups):
    body = run.require('server', ('name', 'plan', 'region', 'image', 'ssh_keys'))
    body['image'] = select_image(run.client.list('/images'), body['image'])['id']
    body['ssh_keys'] = named_ids(run, SSH_KEY, body['ssh_keys'], 'ssh_keys')
    body.update((option, run.params[option]) for option in ('tags', 'labels', 'billing_months', 'auto_renew')
                if run.params[option] is not None)
    if groups:
        body['firewall_groups'] = list(dict.fromkeys(group['id'] for group in groups))
    if volumes:
        body['volumes'] = list(dict.fromkeys(volume['id'] for volume in volumes))
    if backups is not None:
        body['backups'] = backups
    if run.params['state'] == 'stopped':
        body['start'] = False
    if wanted_protection(run):
        body['protection'] = wanted_protection(run)
    status = run.params['state'] if run.params['state'] in READY else 'running'
    predicted = dict({'object': 'server', 'id': None, 'status': status, 'tags': [], 'labels': {},
                      'billing_months': 1, 'auto_renew': True, 'ipv4': None, 'ipv6': None}, **body)
    return run.change(predicted, lambda: run.client.post('/servers', dict(body, **user_data(run))))


def user_data(run):
    text = run.params['user_data']
    return {} if text is None else {'user_data_b64': base64.b64encode(text.encode('utf-8')).decode('ascii')}


def update(run, found):
    run.refuse_changes('server', found, ('region', 'billing_months'))
    require_resizable(run, found)
    image_id = new_image(run, found)
    keys = named_ids(run, SSH_KEY, run.params['ssh_keys'] or [], 'ssh_keys')
    patch = dict(run.differences(found, ('name', 'labels', 'auto_renew')), **protection_patch(run, found))
    tags = run.params['tags']
    if tags is not None and set(tags) != set(found['tags']):
        patch['tags'] = tags
    server = found
    if patch:
        server = run.change(predict(found, patch), lambda: run.client.patch(SERVER.path(found['id']), patch))
    if image_id is not None:
        return rebuild(run, server, image_id, keys)
    if keys and set(keys) != set(found['ssh_keys']):
        run.module.warn('ssh_keys: the server %s was installed with other SSH keys; they change only with a '
                        'rebuild' % found['name'])
    return server


def new_image(run, found):
    """Returns the ID of the image that replaces the installed one; None if that one is to stay."""
    image = run.params['image']
    # The service does not show the snapshot that a server was installed from.
    if image is None or image == found['image'] or image.startswith(SNAPSHOT_PREFIX):
        return None
    images = run.client.list('/images')
    if is_installed(images, image, found['image']):
        return None
    require_unprotected('server', found, 'rebuild')
    if not run.params['rebuild']:
        names = {one['id']: image_name(one) for one in images}
        installed = names.get(found['image']) or found['image']
        raise Failure('cannot change image of an existing server: image is %s, not %s; set rebuild=true to '
                      'erase the disk and install it' % (installed, image))
    return select_image(images, image)['id']


def rebuild(run, server, image_id, keys):
    """Erases the disk and installs the image."""
    body = dict(user_data(run), image=image_id)
    if keys:
        body['ssh_keys'] = keys
    predicted = dict(server, image=image_id, ssh_keys=keys or server['ssh_keys'], status='running')
    if not run.module.check_mode:
        server = settle(run, server)
    rebuilt = run.change(predicted, lambda: run.client.post(SERVER.path(server['id'], 'rebuild'), body))
    rebuilt = settle(run, rebuilt)
    # A failed rebuild keeps the previous disk and its image.
    if rebuilt['image'] != image_id:
        raise Failure('could not rebuild the server %s; its disk is unchanged' % rebuilt['name'])
    return rebuilt


def settle(run, server):
    """Waits for an install in progress, unless the task does not wait."""
    if run.module.check_mode or not run.params['wait'] or server['status'] not in NOT_READY:
        return server
    return wait_for_status(run, SERVER, server, READY, final=('suspended', 'destroying'))


def set_power(run, server):
    goal = run.params['state']
    server = settle(run, server)
    if goal not in READY or server['status'] == goal:
        return server
    action = 'start' if goal == 'running' else 'stop'
    if action == 'start' and server['status'] in NOT_READY:
        # Only without `wait`: an install ends with a running server.
        return server
    if server['status'] == 'suspended':
        require_renewal(run, server, goal)
    url = SERVER.path(server['id'], action) if server['id'] else None
    changed = run.change(dict(server, status=goal), lambda: run.client.post(url))
    if run.module.check_mode or not run.params['wait']:
        return changed
    final = ('destroying',) if server['status'] == 'suspended' else ('suspended', 'destroying')
    return wait_for_status(run, SERVER, changed, (goal,), final)


def require_renewal(run, server, goal):
    """Fails unless the task may start a suspended server: that charges a new cycle."""
    reason = server['suspended_reason']
    if reason != 'not_renewed' or goal == 'stopped':
        raise Failure('state: the server %s is suspended (%s) and cannot become %s'
                      % (server['name'], reason, goal))
    if not run.params['renew']:
        raise Failure('state: the server %s is suspended because it was not renewed; set renew=true to '
                      'start it and pay for a new cycle (%.2f USD for the last one)'
                      % (server['name'], server['price_usd_cycle']))


def set_rdns(run, server):
    given = run.params['rdns'] or {}
    wanted = {family: name or None for family, name in given.items() if name is not None}
    current = {family: (server[family] or {}).get('rdns') for family in FAMILIES}
    body = {family: name for family, name in wanted.items() if name != current[family]}
    if not body:
        return server
    predicted = dict(server)
    for family, name in body.items():
        predicted[family] = dict(server[family] or {}, rdns=name)
    return run.change(predicted, lambda: run.client.post(SERVER.path(server['id'], 'rdns'), body))
