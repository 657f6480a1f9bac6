/** Compares the resources of a customer with those of the model. */
import { cyclePrice } from '../../lifecycle/rules.ts';
import type { JsonBody } from '../../support/v1-client.ts';
import type { ModelCustomer, ModelServer } from '../model/model.ts';
import { sum } from './money.ts';
import type { Problem } from './problem.ts';
import type { CustomerView } from './view.ts';

export interface ResourceFacts {
  /** Servers that a lost host had: they are installed again. */
  readonly lostServers: ReadonlySet<string>;
  /** Whether a host broke since the last comparison: an order may have been refunded. */
  readonly hostsFailed: boolean;
  /** Volumes whose newest attachment ended with an error. */
  readonly refusedVolumes: ReadonlySet<string>;
}

export function compareResources(
  customer: ModelCustomer,
  view: CustomerView,
  facts: ResourceFacts,
): Problem[] {
  adoptServers(customer, view);
  return [
    ...compareServers(customer, view, facts),
    ...compareVolumes(customer, view, facts),
    ...compareSnapshots(customer, view),
  ];
}

/** A form answers with a number that the API does not have. A refunded order is only in the ledger. */
function adoptServers(customer: ModelCustomer, view: CustomerView): void {
  const known = new Set(customer.servers.map(({ id }) => id));
  const adopt = (id: string, fits: (server: ModelServer) => boolean) => {
    const own = customer.servers.find((server) => server.id === null && fits(server));
    if (own && !known.has(id)) own.id = id;
    known.add(id);
  };
  for (const { id, plan, billing_months: months } of view.servers)
    adopt(id, (server) => server.plan === plan && server.months === months);
  for (const { type, resource } of view.ledger) {
    if (type !== 'refund' || !/^srv_/.test(resource)) continue;
    const charges = view.ledger.filter((entry) => entry.type === 'charge' && entry.resource === resource);
    adopt(resource, ({ plan, months }) => cyclePrice(plan, months) === -sum(charges));
  }
}

function compareServers(customer: ModelCustomer, view: CustomerView, facts: ResourceFacts): Problem[] {
  const found = new Map(view.servers.map((server) => [String(server.id), server]));
  const extra = extras(
    customer.servers.map(({ id }) => id),
    view.servers,
  );
  return [
    ...extra,
    ...customer.servers.flatMap((server) =>
      compareServer(customer, server, found.get(server.id ?? ''), { view, facts }),
    ),
  ];
}

function compareServer(
  customer: ModelCustomer,
  server: ModelServer,
  found: JsonBody | undefined,
  { view, facts }: { readonly view: CustomerView; readonly facts: ResourceFacts },
): Problem[] {
  const subject = `server ${server.id ?? server.name ?? 'of a form'}`;
  if (server.isDeleted) return found ? [lost(`${subject} is deleted, and ${found.status}`)] : [];
  if (!found) {
    const isRefunded = view.ledger.some(({ type, resource }) => type === 'refund' && resource === server.id);
    if (!facts.hostsFailed || !isRefunded) return [lost(`${subject} is missing`)];
    // No host could create it, so its order was refunded. Its charge is compared with the refund.
    server.isDeleted = true;
    for (const volume of customer.volumes) if (volume.server === server) volume.server = null;
    return [];
  }
  const problems: Problem[] = [];
  if (found.action !== null) problems.push(stuck(`${subject}: ${found.action.command} is still under way`));
  if (facts.lostServers.has(found.id) || found.status === 'suspended') {
    if (found.status === 'running' || found.status === 'stopped') server.status = found.status;
  } else if (found.status !== server.status)
    problems.push(lost(`${subject} is ${found.status}, not ${server.status} as acknowledged`));
  const name = server.newName ?? server.name;
  if (name !== null && found.name !== name)
    problems.push(lost(`${subject} is named ${found.name}, not ${name}`));
  return problems;
}

function compareVolumes({ volumes }: ModelCustomer, view: CustomerView, facts: ResourceFacts): Problem[] {
  const found = new Map(view.volumes.map((volume) => [String(volume.id), volume]));
  const problems = volumes.flatMap((volume): Problem[] => {
    const seen = found.get(volume.id);
    if (volume.isDeleted) return seen ? [lost(`volume ${volume.id} is deleted, and still there`)] : [];
    if (!seen) return [lost(`volume ${volume.id} is missing`)];
    // Its host is lost, and so is its place.
    if (seen.lost_at !== null) return [];
    // The driver may refuse a volume whose content turns out to be on another host: the action says so.
    if (seen.attached_to === null && facts.refusedVolumes.has(volume.id)) volume.server = null;
    const own = [volume.sizeGb, volume.server?.id ?? null];
    const same = own[0] === seen.size_gb && own[1] === seen.attached_to;
    return [
      ...(same
        ? []
        : [lost(`volume ${volume.id} has ${seen.size_gb} GiB at ${seen.attached_to}, not ${own}`)]),
      ...(seen.action === null ? [] : [stuck(`volume ${volume.id}: ${seen.action.command} is under way`)]),
    ];
  });
  const ids = volumes.map(({ id }) => id);
  return [...extras(ids, view.volumes), ...problems];
}

function compareSnapshots({ snapshots }: ModelCustomer, view: CustomerView): Problem[] {
  const found = new Map(view.snapshots.map((snapshot) => [String(snapshot.id), snapshot]));
  const problems = snapshots.flatMap((snapshot): Problem[] => {
    const seen = found.get(snapshot.id);
    if (snapshot.isDeleted) return seen ? [lost(`snapshot ${snapshot.id} is deleted, and still there`)] : [];
    if (!seen) return [lost(`snapshot ${snapshot.id} is missing`)];
    return seen.status === 'creating' ? [stuck(`snapshot ${snapshot.id} is still being created`)] : [];
  });
  const ids = snapshots.map(({ id }) => id);
  return [...extras(ids, view.snapshots), ...problems];
}

/** Resources that no acknowledged request created. */
function extras(ids: readonly (string | null)[], seen: readonly JsonBody[]): Problem[] {
  const unknown = seen.filter(({ id }) => !ids.includes(id));
  return unknown.map(({ object, id }) => ({
    kind: 'doubled',
    text: `${object} ${id} was never acknowledged`,
  }));
}

const lost = (text: string): Problem => ({ kind: 'lost', text });
const stuck = (text: string): Problem => ({ kind: 'stuck', text });
