/** Steps that several browser tests share. */
import assert from 'node:assert/strict';
import { pageErrors } from '../../support/chromium.ts';
import { readPng } from '../../support/png-pixels.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { publicKey } from './estate.ts';
import type { BrowserUser } from './person.ts';

/** The status in the header of a page, before the region. */
export const STATUS_RUNNING = /running\s+(?:Bucharest|Paris|Reykjavik|Zurich)/i;

/** Returns console errors except expected statuses: a required code (400) and a deleted server (404). */
export function consoleErrors({ page }: BrowserUser): readonly string[] {
  return pageErrors(page).filter((message) => !/status of (400|404)/.test(message));
}

export async function signUp(person: BrowserUser): Promise<string> {
  const email = `ada-${crypto.randomUUID()}@example.org`;
  await person.open('/');
  await person.followLink('Sign up');
  const typed = { 'Email address': email, 'Confirm password': PASSWORD };
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
  await person.submitForm('add', 'Add SSH key', { Name: name, 'Public key': publicKey(byte, 'ada') });
  await person.expectText('SSH key added.');
}

/** Pays with a simulated wallet and reloads the page until the payment is credited. */
export async function topUp(person: BrowserUser, amount: string): Promise<void> {
  const { world } = person;
  await person.open('/topup');
  await person.submitForm('create', 'Continue to payment', { Litecoin: true, 'Amount (USD)': amount });
  const [units, address] = await person.copyableTexts();
  await world.sandbox('payments', { coin: 'LTC', address, amount: units });
  await person.reloadUntil(/confirming/);
  await world.sandbox('blocks', { coin: 'LTC', count: 30 });
  await person.reloadUntil(/credited to your balance/);
}

/** Returns the path of the server's page. */
export async function deployServer(person: BrowserUser, name: string): Promise<string> {
  await person.open('/plans/s1');
  await person.open('/servers/new?plan=s1&region=par');
  await person.submitForm('deploy', 'Deploy server', { Image: 'Debian 13', Name: name, laptop: true });
  await person.expectText('Your server is paid for and is being installed.');
  await person.reloadUntil(STATUS_RUNNING);
  return person.path;
}

export async function destroyServer(person: BrowserUser, name: string): Promise<void> {
  await person.open('/servers');
  await person.followLink(name);
  await person.followLink('Settings');
  await person.submitForm('destroy', 'Delete server', { [`Enter ${name} to confirm`]: name });
  await person.expectText('The server is being deleted.');
  await person.world.settle();
  await person.open('/servers');
  await person.expectText('Deploy server');
  assert.equal(await person.page.getByRole('link', { name, exact: true }).count(), 0);
}

/** Returns the pixels of the console's screen, which must not be blank. */
export async function captureScreen(person: BrowserUser): Promise<Buffer> {
  const png = await person.page.locator('#screen canvas').screenshot();
  const { bytes } = readPng(png);
  assert.ok(
    bytes.some((value, at) => at > 2 && value !== bytes[at % 3]),
    'the screen is not blank',
  );
  return bytes;
}
