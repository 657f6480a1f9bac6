#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

DOCUMENTATION = r'''
module: server
short_description: Create, change, start, stop, and delete servers
version_added: 0.1.0
description:
  - A server is found by I(id), or by I(name) if only one server has it.
  - Creating a server charges its first billing cycle. Deleting it refunds nothing once it has run.
options:
  name:
    description: Name of the server. With I(id), the name that the server is to have.
    type: str
  id:
    description: ID of an existing server.
    type: str
  state:
    description:
      - C(present) creates the server if it does not exist, and leaves its power state unchanged.
      - C(running) and C(stopped) also start it, or shut it down. A new server with C(stopped) is not powered
        on, and its first start sets it up.
      - C(absent) deletes it with its disk. Its volumes are detached, and its snapshots stay.
    type: str
    choices: [present, absent, running, stopped]
    default: present
  plan:
    description:
      - ID of the plan, such as C(s1). Required for a new server.
      - Another plan resizes an existing server, which is charged or refunded pro rata for the rest of the
        cycle. A running server restarts, which requires I(allow_restart=true).
    type: str
  allow_restart:
    description: Whether a running server may restart to get another plan.
    type: bool
    default: false
  resize_disk:
    description:
      - Whether the disk grows to the size of another plan. It never shrinks, so that the server cannot get a
        plan with a smaller disk afterwards.
    type: bool
    default: false
  region:
    description: Code of the region, such as C(par). Required for a new server, and fixed after that.
    type: str
  image:
    description:
      - ID of an image, its name such as C(debian-13), or a family such as C(debian) for its newest version. A
        family accepts every version of an existing server.
      - For a new server, also the ID of a snapshot in the same region. It is not compared later.
      - Required for a new server. Changing it requires I(rebuild=true).
    type: str
  rebuild:
    description:
      - Whether to install I(image) if the server has another one. This B(erases the disk).
      - The server keeps its addresses.
    type: bool
    default: false
  ssh_keys:
    description:
      - Names or IDs of the SSH keys that may sign in as root. Required for a new server.
      - They are written to the disk only when an image is installed. A difference from an existing server is
        a warning.
    type: list
    elements: str
  user_data:
    description:
      - cloud-init user data, up to 64 KiB. Applied when an image is installed, and otherwise ignored.
      - It is never shown, because it may contain secrets.
    type: str
  tags:
    description: Tags of the server. Replaces all tags.
    type: list
    elements: str
  labels:
    description: Labels of the server. Replaces all labels.
    type: dict
  billing_months:
    description: Months paid in advance. The service uses 1 if you omit it. Fixed after creation.
    type: int
    choices: [1, 3, 6, 12]
  auto_renew:
    description: Whether the next cycle is charged when this one ends. The service uses true if you omit it.
    type: bool
  protection:
    description:
      - Protects the server against mistakes. Members that you omit stay unchanged.
      - A task never lifts a protection that it would break. Lift it in a task before.
    type: dict
    suboptions:
      delete:
        description: Whether the server cannot be deleted.
        type: bool
      rebuild:
        description: Whether its disk cannot be replaced by a rebuild.
        type: bool
  backups:
    description:
      - Backs up the server on a schedule. Members that you omit stay unchanged, and a new server gets the
        defaults of the service.
      - If backups have a price, it is a part of that of the server. Turning them on charges the rest of the
        billing cycle, and turning them off returns it to the balance.
    type: dict
    suboptions:
      enabled:
        description: Whether the server is backed up. Existing backups stay when you turn this off.
        type: bool
        default: true
      every:
        description: Interval of the backups. The service uses C(day) if you omit it.
        type: str
        choices: [day, week]
      weekday:
        description: Day of weekly backups. Required with C(week).
        type: str
        choices: [sunday, monday, tuesday, wednesday, thursday, friday, saturday]
      hour_utc:
        description: Hour of the day in UTC in which a backup starts, from 0 to 23.
        type: int
      keep:
        description: Number of backups to keep. The oldest is deleted when a new one is ready.
        type: int
  firewall_groups:
    description:
      - Names or IDs of firewall groups to apply to the server. They filter a new server from its first packet
        on. Its other groups stay.
      - To remove the server from a group, use M(skerry.cloud.firewall_group).
    type: list
    elements: str
  volumes:
    description:
      - Names or IDs of volumes to attach to the server. Those of a new server are attached with its order.
        Its other volumes stay.
      - A volume that another server has is an error. To move or detach it, use M(skerry.cloud.volume).
    type: list
    elements: str
  renew:
    description:
      - Whether I(state=running) may start a server that is suspended because it was not renewed.
      - This charges a new billing cycle.
    type: bool
    default: false
  rdns:
    description: Host names of the addresses. An empty name removes the host name.
    type: dict
    suboptions:
      ipv4:
        description: Host name of the IPv4 address.
        type: str
      ipv6:
        description: Host name of the IPv6 address.
        type: str
extends_documentation_fragment:
  - skerry.cloud.api
  - skerry.cloud.api.attributes
  - skerry.cloud.api.wait
author: Skerry contributors (@skerry)
'''

EXAMPLES = r'''
- name: Create a server and wait until it is running
  skerry.cloud.server:
    name: web-1
    state: running
    plan: s1
    region: par
    image: debian-13
    ssh_keys: [deploy]
    labels: {env: prod}
    firewall_groups: [web]
    protection: {delete: true}
    user_data: |
      #cloud-config
      packages: [nginx]
  register: web

- name: Show its address
  ansible.builtin.debug:
    var: web.server.ipv4.address

- name: Do not renew it at the end of its cycle
  skerry.cloud.server:
    name: web-1
    auto_renew: false

- name: Give it another plan, and restart it if it is running
  skerry.cloud.server:
    name: web-1
    plan: s2
    allow_restart: true

- name: Back it up every Sunday, and keep four backups
  skerry.cloud.server:
    name: web-1
    backups: {every: week, weekday: sunday, hour_utc: 3, keep: 4}

- name: Install another image, which erases the disk
  skerry.cloud.server:
    name: web-1
    image: debian-12
    rebuild: true

- name: Lift the protection
  skerry.cloud.server:
    name: web-1
    protection: {delete: false}

- name: Delete it
  skerry.cloud.server:
    name: web-1
    state: absent
'''

RETURN = r'''
server:
  description:
    - The server as the API returns it, or null if it is deleted. In check mode, the server as it would be.
  returned: success, and if the wait fails
  type: dict
  contains:
    id:
      description: ID of the server.
      type: str
      sample: srv_aaaqk3m7qzb5x2l6v4t7n8wyja
    name:
      description: Name of the server.
      type: str
      sample: web-1
    status:
      description: One of provisioning, installing, running, stopped, suspended, and destroying.
      type: str
      sample: running
    ipv4:
      description: IPv4 address, gateway, and host name (C(rdns)). Null until the server runs.
      type: dict
    ipv6:
      description: IPv6 address, prefix, and host names. Null until the server runs.
      type: dict
    labels:
      description: Labels of the server.
      type: dict
    paid_until:
      description: End of the current billing cycle.
      type: str
'''

from ansible_collections.skerry.cloud.plugins.module_utils.backups import BACKUPS
from ansible_collections.skerry.cloud.plugins.module_utils.module import WAIT_OPTIONS, execute
from ansible_collections.skerry.cloud.plugins.module_utils.protection import DELETE_AND_REBUILD
from ansible_collections.skerry.cloud.plugins.module_utils.servers import manage_server

OPTIONS = dict(
    WAIT_OPTIONS,
    name={'type': 'str'},
    id={'type': 'str'},
    state={'type': 'str', 'choices': ['present', 'absent', 'running', 'stopped'], 'default': 'present'},
    plan={'type': 'str'},
    allow_restart={'type': 'bool', 'default': False},
    resize_disk={'type': 'bool', 'default': False},
    region={'type': 'str'},
    image={'type': 'str'},
    rebuild={'type': 'bool', 'default': False},
    ssh_keys={'type': 'list', 'elements': 'str', 'no_log': False},
    user_data={'type': 'str', 'no_log': True},
    tags={'type': 'list', 'elements': 'str'},
    labels={'type': 'dict'},
    billing_months={'type': 'int', 'choices': [1, 3, 6, 12]},
    auto_renew={'type': 'bool'},
    protection=DELETE_AND_REBUILD,
    backups=BACKUPS,
    firewall_groups={'type': 'list', 'elements': 'str'},
    volumes={'type': 'list', 'elements': 'str'},
    renew={'type': 'bool', 'default': False},
    rdns={'type': 'dict', 'options': {'ipv4': {'type': 'str'}, 'ipv6': {'type': 'str'}}},
)


def main():
    execute(OPTIONS, manage_server, required_one_of=[('id', 'name')])


if __name__ == '__main__':
    main()
