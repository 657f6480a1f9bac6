/** The operations on the status page, and on what the service refuses for a time or by order. */
import { MACHINES, manage, read } from './roles.ts';

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
} as const;
