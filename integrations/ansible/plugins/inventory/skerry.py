# SPDX-License-Identifier: Apache-2.0
"""Lists the servers of an account as hosts."""

DOCUMENTATION = r'''
name: skerry
short_description: Servers of a Skerry account
version_added: 0.1.0
description:
  - Lists the servers of an account as hosts, with groups by region, status, plan, tag, and label.
  - The name of the file must end in C(skerry.yml) or C(skerry.yaml).
  - Servers that have no address yet, or are being deleted, are left out.
options:
  plugin:
    description: Names this plugin.
    type: str
    required: true
    choices: [skerry.cloud.skerry]
  api_token:
    description: API token of the account. The scope C(read) is enough.
    type: str
    required: true
    env:
      - name: SKERRY_TOKEN
  api_url:
    description: Address of the host, such as C(https://skerry.example).
    type: str
    required: true
    env:
      - name: SKERRY_API_URL
  ca_path:
    description: File with the certificate authorities to trust instead of those of the system.
    type: path
  filters:
    description:
      - Lists only servers that match.
      - The fields are C(name), C(status), C(region), C(plan), C(image), and C(tag).
      - C(labels) is a dictionary of labels that the servers have.
    type: dict
    default: {}
  group:
    description:
      - Name of the group with all servers. The names of the other groups begin with it, such as
        C(skerry_region_par), C(skerry_status_running), C(skerry_plan_s1), C(skerry_tag_web), and
        C(skerry_label_env_prod).
    type: str
    default: skerry
  connect_with:
    description: The address that becomes C(ansible_host).
    type: str
    choices: [ipv4, ipv6]
    default: ipv4
extends_documentation_fragment:
  - constructed
  - inventory_cache
notes:
  - Hosts are named after their servers. If several servers have one name, their hosts are named by ID.
  - Each host has the variables C(skerry_id), C(skerry_name), C(skerry_status), C(skerry_plan),
    C(skerry_region), C(skerry_image), C(skerry_ipv4), C(skerry_ipv6), C(skerry_ipv6_prefix), C(skerry_tags),
    C(skerry_labels), C(skerry_created_at), and C(skerry_paid_until).
author: Skerry contributors (@skerry)
'''

EXAMPLES = r'''
# servers.skerry.yml: all servers, by the variables SKERRY_TOKEN and SKERRY_API_URL
plugin: skerry.cloud.skerry

---
# Only the running servers of production, with groups by the label "role", cached for five minutes.
plugin: skerry.cloud.skerry
filters:
  status: running
  labels: {env: prod}
keyed_groups:
  - key: skerry_labels.role
    prefix: role
compose:
  ansible_user: "'root'"
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.cache/ansible-skerry
cache_timeout: 300
'''

from collections import Counter

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.utils.unsafe_proxy import wrap_var

from ansible_collections.skerry.cloud.plugins.module_utils.client import Client, Failure
from ansible_collections.skerry.cloud.plugins.module_utils.labels import has_labels, label_texts


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    NAME = 'skerry.cloud.skerry'

    def verify_file(self, path):
        return super().verify_file(path) and path.endswith(('skerry.yml', 'skerry.yaml'))

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        servers = self._read_servers(path, cache)
        names = Counter(server['name'] for server in servers)
        self.inventory.add_group(self.get_option('group'))
        for server in servers:
            self._add_host(server, server['name'] if names[server['name']] == 1 else server['id'])

    def _read_servers(self, path, cache):
        """Returns the servers from the cache if it may be used, and otherwise from the API."""
        key = self.get_cache_key(path)
        use_cache = self.get_option('cache')
        if use_cache and cache:
            try:
                return self._cache[key]
            except KeyError:
                pass  # Missing or expired.
        servers = self._fetch_servers()
        if use_cache:
            self._cache[key] = servers
        return servers

    def _fetch_servers(self):
        filters = dict(self.get_option('filters'))
        labels = label_texts(filters.pop('labels', None))
        try:
            client = Client(*[self.get_option(name) for name in ('api_url', 'api_token', 'ca_path')])
            servers = client.list('/servers', filters)
        except Failure as failure:
            raise AnsibleParserError(str(failure)) from failure
        return [server for server in servers
                if server['ipv4'] and server['status'] != 'destroying' and has_labels(server, labels)]

    def _add_host(self, server, host):
        self.inventory.add_host(host, self.get_option('group'))
        variables = host_variables(server)
        variables['ansible_host'] = variables['skerry_%s' % self.get_option('connect_with')]
        for name, value in variables.items():
            self.inventory.set_variable(host, name, value)
        for name in group_names(server):
            group = self._sanitize_group_name('%s_%s' % (self.get_option('group'), name))
            self.inventory.add_group(group)
            self.inventory.add_child(self.get_option('group'), group)
            self.inventory.add_host(host, group)
        strict = self.get_option('strict')
        self._set_composite_vars(self.get_option('compose'), variables, host, strict=strict)
        self._add_host_to_composed_groups(self.get_option('groups'), variables, host, strict=strict)
        self._add_host_to_keyed_groups(self.get_option('keyed_groups'), variables, host, strict=strict)


def host_variables(server):
    variables = {'skerry_%s' % name: server[name] for name in
                 ('id', 'name', 'status', 'plan', 'region', 'image', 'created_at', 'paid_until')}
    variables.update(
        skerry_ipv4=server['ipv4']['address'],
        skerry_ipv6=server['ipv6']['address'],
        skerry_ipv6_prefix=server['ipv6']['prefix'],
        # Free text: a template in it must not run.
        skerry_tags=[literal(tag) for tag in server['tags']],
        skerry_labels={name: literal(value) for name, value in server['labels'].items()},
    )
    return variables


def literal(text):
    """Returns text that Ansible never treats as a template."""
    return wrap_var(text) if '{' in text else text


def group_names(server):
    names = ['%s_%s' % (name, server[name]) for name in ('region', 'status', 'plan')]
    names += ['tag_%s' % tag for tag in server['tags']]
    return names + ['label_%s_%s' % label for label in sorted(server['labels'].items())]
