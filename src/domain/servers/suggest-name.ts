/** Suggests a name for a new server that none of the customer's servers has. */
import { randomInt } from 'node:crypto';
import type { CustomerActor, Service } from '../context.ts';
import { listServers } from './read.ts';

const FIRST = [
  'amber',
  'bold',
  'calm',
  'clear',
  'coral',
  'early',
  'gray',
  'green',
  'north',
  'quiet',
  'swift',
];
const SECOND = ['bay', 'cliff', 'cove', 'gull', 'heron', 'island', 'otter', 'reef', 'seal', 'shore', 'tide'];
const NUMBER_MAX = 999;
/** With as many servers as the largest quota, one try in a hundred finds a name that is taken. */
const TRIES = 4;

export async function suggestServerName(service: Service, actor: CustomerActor): Promise<string> {
  let name = randomName();
  for (let tries = 1; tries < TRIES && (await isTaken(service, actor, name)); tries += 1) name = randomName();
  return name;
}

function randomName(): string {
  return `${pick(FIRST)}-${pick(SECOND)}-${randomInt(1, NUMBER_MAX + 1)}`;
}

function pick(words: readonly string[]): string {
  return words[randomInt(words.length)] ?? '';
}

async function isTaken(service: Service, actor: CustomerActor, name: string): Promise<boolean> {
  const request = { filter: { name }, sort: 'name', descending: false, after: null, size: 1 };
  return (await listServers(service, actor, request)).items.length > 0;
}
