/** What a customer does on several occasions, by clicking and typing. */
import assert from 'node:assert/strict';
import { complaintsOf } from '../../support/chromium.ts';
import { readPng } from '../../support/pixels.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { publicKey } from './estate.ts';
import type { Person } from './person.ts';

/** On a server's page. */
export const RUNS = /Status\s*running/;

/** Not what a page says with its status: that a code is asked for, that a server is gone by now. */
export function faultsOf({ page }: Person): readonly string[] {
  return complaintsOf(page).filter((complaint) => !/status of (400|404)/.test(complaint));
}

export async function signsUp(person: Person): Promise<string> {
  const email = `ada-${crypto.randomUUID()}@example.org`;
  await person.go('/');
  await person.follow('Sign up');
  const typed = { 'E-mail address': email, 'The same again': PASSWORD };
  await person.send('sign_up', 'Sign up', { Password: PASSWORD, ...typed });
  await person.sees('Your account is ready');
  const [code = ''] = await person.copies();
  assert.ok(code.length >= 16, 'the recovery code is shown');
  return email;
}

export async function signsOut(person: Person): Promise<void> {
  await person.page.getByRole('button', { name: 'Sign out' }).first().click();
  await person.sees('You are signed out.');
}

export async function addsKey(person: Person, name = 'laptop', byte = 1): Promise<void> {
  await person.go('/keys');
  await person.send('add', 'Add the key', { Name: name, 'Public key': publicKey(byte, 'ada') });
  await person.sees('The key is added.');
}

/** Pays at a simulated wallet, and sees it come by loading the page again. */
export async function topsUp(person: Person, amount: string): Promise<void> {
  const { world } = person;
  await person.go('/topup');
  await person.send('create', 'Get an address to pay to', { Litecoin: true, 'Amount in US dollars': amount });
  const [units, address] = await person.copies();
  await world.sandbox('payments', { coin: 'LTC', address, amount: units });
  await person.waitsFor(/confirming/);
  await world.sandbox('blocks', { coin: 'LTC', count: 30 });
  await person.waitsFor(/on your balance/);
}

/** Returns the path of the server's page. */
export async function deploys(person: Person, name: string): Promise<string> {
  await person.go('/plans/s1');
  await person.go('/servers/new?plan=s1&region=par');
  await person.send('deploy', 'Deploy the server', { Image: 'debian 13', Name: name, laptop: true });
  await person.sees('The server is ordered and paid.');
  await person.waitsFor(RUNS);
  return person.path;
}

export async function destroys(person: Person, name: string): Promise<void> {
  await person.go('/servers');
  await person.follow(name);
  await person.follow('Settings');
  await person.send('destroy', 'Destroy the server', { 'Type its name': name });
  await person.sees('The server is being destroyed.');
  await person.world.settle();
  await person.go('/servers');
  await person.sees('Deploy a server');
  assert.equal(await person.page.getByRole('link', { name, exact: true }).count(), 0);
}

/** The screen as it is drawn now; it has more than one colour. */
export async function drawn(person: Person): Promise<Buffer> {
  const png = await person.page.locator('#screen canvas').screenshot();
  const { bytes } = readPng(png);
  assert.ok(
    bytes.some((value, at) => at > 2 && value !== bytes[at % 3]),
    'the screen is not blank',
  );
  return bytes;
}
