/** What a customer does on several occasions, by clicking and typing. */
import assert from 'node:assert/strict';
import { pageErrors } from '../../support/chromium.ts';
import { readPng } from '../../support/png-pixels.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { publicKey } from './estate.ts';
import type { BrowserUser } from './person.ts';

/** On a server's page. */
export const STATUS_RUNNING = /Status\s*running/;

/** Not what a page says with its status: that a code is asked for, that a server is gone by now. */
export function consoleErrors({ page }: BrowserUser): readonly string[] {
  return pageErrors(page).filter((complaint) => !/status of (400|404)/.test(complaint));
}

export async function signUp(person: BrowserUser): Promise<string> {
  const email = `ada-${crypto.randomUUID()}@example.org`;
  await person.open('/');
  await person.followLink('Sign up');
  const typed = { 'E-mail address': email, 'The same again': PASSWORD };
  await person.submitForm('sign_up', 'Sign up', { Password: PASSWORD, ...typed });
  await person.expectText('Your account is ready');
  const [code = ''] = await person.copyableTexts();
  assert.ok(code.length >= 16, 'the recovery code is shown');
  return email;
}

export async function signOut(person: BrowserUser): Promise<void> {
  await person.page.getByRole('button', { name: 'Sign out' }).first().click();
  await person.expectText('You are signed out.');
}

export async function addKey(person: BrowserUser, name = 'laptop', byte = 1): Promise<void> {
  await person.open('/keys');
  await person.submitForm('add', 'Add the key', { Name: name, 'Public key': publicKey(byte, 'ada') });
  await person.expectText('The key is added.');
}

/** Pays at a simulated wallet, and sees it come by loading the page again. */
export async function topUp(person: BrowserUser, amount: string): Promise<void> {
  const { world } = person;
  await person.open('/topup');
  await person.submitForm('create', 'Get an address to pay to', {
    Litecoin: true,
    'Amount in US dollars': amount,
  });
  const [units, address] = await person.copyableTexts();
  await world.sandbox('payments', { coin: 'LTC', address, amount: units });
  await person.reloadUntil(/confirming/);
  await world.sandbox('blocks', { coin: 'LTC', count: 30 });
  await person.reloadUntil(/on your balance/);
}

/** Returns the path of the server's page. */
export async function deployServer(person: BrowserUser, name: string): Promise<string> {
  await person.open('/plans/s1');
  await person.open('/servers/new?plan=s1&region=par');
  await person.submitForm('deploy', 'Deploy the server', { Image: 'debian 13', Name: name, laptop: true });
  await person.expectText('The server is ordered and paid.');
  await person.reloadUntil(STATUS_RUNNING);
  return person.path;
}

export async function destroyServer(person: BrowserUser, name: string): Promise<void> {
  await person.open('/servers');
  await person.followLink(name);
  await person.followLink('Settings');
  await person.submitForm('destroy', 'Destroy the server', { 'Type its name': name });
  await person.expectText('The server is being destroyed.');
  await person.world.settle();
  await person.open('/servers');
  await person.expectText('Deploy a server');
  assert.equal(await person.page.getByRole('link', { name, exact: true }).count(), 0);
}

/** The screen as it is drawn now; it has more than one colour. */
export async function captureScreen(person: BrowserUser): Promise<Buffer> {
  const png = await person.page.locator('#screen canvas').screenshot();
  const { bytes } = readPng(png);
  assert.ok(
    bytes.some((value, at) => at > 2 && value !== bytes[at % 3]),
    'the screen is not blank',
  );
  return bytes;
}
