/** Customers create volumes and snapshots, attach and restore them, and delete them. */
import { pickAt } from '../history.ts';
import { live, type ModelVolume } from '../model/model.ts';
import type { Acting } from './acting.ts';
import { target } from './servers.ts';

const VOLUMES_MAX = 8;
const SNAPSHOTS_MAX = 6;
const STATE = [409, 422];

export async function createVolume(acting: Acting): Promise<void> {
  const { customer, name } = acting;
  if (live(customer.volumes).length >= VOLUMES_MAX) return;
  const answer = await acting.change('POST', '/volumes', { name, size_gb: 10, region: 'par' }, STATE);
  if (answer?.status !== 201) return;
  customer.volumes.push({ id: answer.body.id, name, sizeGb: 10, server: null, isDeleted: false });
}

/** The form has the key: sending it twice creates one. */
export async function createVolumeOnPanel(acting: Acting): Promise<void> {
  const { customer, name, world, step } = acting;
  if (live(customer.volumes).length >= VOLUMES_MAX) return;
  const opened = await acting.signedIn(
    (session) => session.get('/volumes', { accept: 'text/html' }),
    ({ status }) => status === 303,
    `${name} open the form`,
  );
  if (opened?.status !== 200) return;
  const { text } = opened;
  let path: string | null = null;
  const made = await world.asker.ask(`${name} submit the form`, step.via, async (url) => {
    const page = { path: '/volumes', status: 200, headers: new Headers(), text, location: null };
    const sent = await acting.panel(url).submit(page, 'create', { name, size_gb: '10', region: 'par' });
    path = sent.location;
    return { ...sent, body: {} };
  });
  const id = /vol_\w+/.exec(path ?? '')?.[0];
  if (made?.status !== 303 || id === undefined) return;
  customer.volumes.push({ id, name, sizeGb: 10, server: null, isDeleted: false });
}

export async function growVolume(acting: Acting): Promise<void> {
  const volume = pickVolume(acting);
  if (!volume) return;
  const sizeGb = volume.sizeGb + 5;
  const answer = await acting.change('PATCH', `/volumes/${volume.id}`, { size_gb: sizeGb }, STATE);
  if (answer?.status === 200) volume.sizeGb = sizeGb;
}

export async function attach(acting: Acting): Promise<void> {
  const free = live(acting.customer.volumes).filter(({ server }) => server === null);
  const volume = pickAt(free, acting.step.other);
  const server = target(acting);
  if (!volume || !server) return;
  const body = { server: server.id };
  const answer = await acting.change('POST', `/volumes/${volume.id}/attach`, body, STATE);
  if (answer?.status === 200) volume.server = server;
}

export async function detach(acting: Acting): Promise<void> {
  const attached = live(acting.customer.volumes).filter(({ server }) => server !== null);
  const volume = pickAt(attached, acting.step.other);
  if (!volume) return;
  const answer = await acting.change('POST', `/volumes/${volume.id}/detach`, undefined, STATE);
  if (answer?.status === 200) volume.server = null;
}

export async function deleteVolume(acting: Acting): Promise<void> {
  const free = live(acting.customer.volumes).filter(({ server }) => server === null);
  const volume = pickAt(free, acting.step.other);
  if (!volume) return;
  const answer = await acting.change('DELETE', `/volumes/${volume.id}`, undefined, [404, 409]);
  volume.isDeleted = answer?.status === 204 || (answer?.status === 404 && answer.mayBeRepeated);
}

export async function createSnapshot(acting: Acting): Promise<void> {
  const { customer, name } = acting;
  const server = target(acting);
  if (!server || live(customer.snapshots).length >= SNAPSHOTS_MAX) return;
  const answer = await acting.change('POST', `/servers/${server.id}/snapshots`, { name }, STATE);
  if (answer?.status === 201) customer.snapshots.push({ id: answer.body.id, server, isDeleted: false });
}

export async function restore(acting: Acting): Promise<void> {
  const snapshot = pickAt(live(acting.customer.snapshots), acting.step.other);
  const server = snapshot?.server;
  if (!server || server.isDeleted) return;
  const body = { snapshot: snapshot.id };
  const answer = await acting.change('POST', `/servers/${server.id}/restore`, body, STATE);
  if (answer?.status === 202) server.status = 'running';
}

export async function deleteSnapshot(acting: Acting): Promise<void> {
  const snapshot = pickAt(live(acting.customer.snapshots), acting.step.other);
  if (!snapshot) return;
  const answer = await acting.change('DELETE', `/snapshots/${snapshot.id}`, undefined, [404, 409]);
  snapshot.isDeleted = answer?.status === 204 || (answer?.status === 404 && answer.mayBeRepeated);
}

function pickVolume({ customer, step }: Acting): ModelVolume | undefined {
  return pickAt(live(customer.volumes), step.other);
}
