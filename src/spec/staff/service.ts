/** The operations on the status page, and on what the service refuses for a time or by order. */
import { act, HOSTS, MACHINES, manage, OWNER, read } from './roles.ts';

/** The update that customers read says why. */
const STATUS_PAGE_OPERATIONS = {
  'incidents.list': read('incidents list', 'List incidents and planned maintenance'),
  'incidents.get': read('incidents show', 'Show an incident with its updates'),
  'incidents.create': manage('incidents create', 'Publish an incident', MACHINES),
  'incidents.announce': manage('incidents create', 'Announce planned maintenance', MACHINES),
  'incidents.update': manage('incidents update', 'Publish an update of an incident', MACHINES),
  'incidents.resolve': manage('incidents resolve', 'End an incident, or cancel maintenance', MACHINES),
} as const;

export const SERVICE_OPERATIONS = {
  ...STATUS_PAGE_OPERATIONS,
  'maintenance.list': read('maintenance list', 'List the open maintenance windows'),
  'maintenance.start': act('maintenance start', 'Refuse requests for a limited time', HOSTS),
  'maintenance.end': act('maintenance end', 'End all maintenance windows', HOSTS),
  'policies.list': read('policy list', 'List policies'),
  'policies.get': read('policy list', 'Show a policy'),
  'policies.block': act('policy block', 'Refuse an operation because of a legal order', OWNER),
  'policies.unblock': act('policy unblock', 'Delete a policy', OWNER),
  'switches.list': read('switch', 'List switches'),
  'switches.get': read('switch', 'Show a switch'),
  'switches.set': act('switch', 'Turn a switch on or off', OWNER),
} as const;
