/** Customers order servers, use them, and delete them. */
import type { Months, Plan } from '../../lifecycle/rules.ts';
import { pickAt } from '../history.ts';
import { live, type ModelServer } from '../model/model.ts';
import type { Acting } from './acting.ts';

const PLANS: readonly Plan[] = ['s1', 's1', 's1', 's2'];
const MONTHS: readonly Months[] = [1, 1, 1, 3];
const SERVERS_MAX = 8;
/** The state forbids it, or something on the server is under way. */
const STATE = [409, 422];
const ROOT_PASSWORD = 'a long enough root password 1';

export async function deploy(acting: Acting): Promise<void> {
  const { customer, step, name } = acting;
  if (live(customer.servers).length >= SERVERS_MAX) return await deleteServer(acting);
  const plan = pickAt(PLANS, step.target) ?? 's1';
  const months = pickAt(MONTHS, step.value) ?? 1;
  const order = {
    ...{ name, plan, region: 'par', image: customer.imageId, ssh_keys: [customer.keyId] },
    billing_months: months,
  };
  const answer = await acting.change('POST', '/servers', order, STATE);
  if (answer?.status !== 201) return;
  const { id } = answer.body;
  customer.servers.push({ id, name, plan, months, status: 'running', newName: null, isDeleted: false });
}

export async function deployByForm(acting: Acting): Promise<void> {
  const { customer, step } = acting;
  if (live(customer.servers).length >= SERVERS_MAX) return await deleteServer(acting);
  const months = pickAt(MONTHS, step.value) ?? 1;
  const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-13', billing: months };
  const answer = await acting.form('/deploy-api.php', { ...order, root_password: ROOT_PASSWORD });
  if (answer?.body.ok !== true) return;
  customer.servers.push({
    ...{ id: null, name: null, plan: 's1', months, status: 'running', newName: null, isDeleted: false },
  });
}

export async function deleteServer(acting: Acting): Promise<void> {
  const server = target(acting);
  if (!server) return;
  const answer = await acting.change('DELETE', `/servers/${server.id}`, undefined, [404, 409]);
  if (answer === null || answer.status === 409) return;
  if (answer.status === 404 && !answer.mayBeRepeated)
    acting.world.asker.unexpected.push(`${acting.name} server ${server.id} is missing`);
  server.isDeleted = true;
  for (const volume of acting.customer.volumes) if (volume.server === server) volume.server = null;
}

export async function power(acting: Acting, verb: 'start' | 'stop' | 'reboot'): Promise<void> {
  const server = target(acting);
  if (!server) return;
  const answer = await acting.change('POST', `/servers/${server.id}/${verb}`, undefined, STATE);
  if (answer?.status === 202) server.status = verb === 'stop' ? 'stopped' : 'running';
}

export async function rebuild(acting: Acting): Promise<void> {
  const server = target(acting);
  if (!server) return;
  const body = { image: acting.customer.imageId, ssh_keys: [acting.customer.keyId] };
  const answer = await acting.change('POST', `/servers/${server.id}/rebuild`, body, STATE);
  if (answer?.status === 202) server.status = 'running';
}

export async function rename(acting: Acting): Promise<void> {
  const server = target(acting);
  if (!server) return;
  const answer = await acting.change('PATCH', `/servers/${server.id}`, { name: acting.name }, STATE);
  if (answer?.status === 200) server.newName = acting.name;
}

export function target({ customer, step }: Acting): ModelServer | undefined {
  return pickAt(
    live(customer.servers).filter(({ id }) => id !== null),
    step.target,
  );
}
