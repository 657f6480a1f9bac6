/** Mail to tickets as an operator's mail server hands it over: by a pipe to a command, and by LMTP. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { createScratchDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { LmtpClient } from '../support/lmtp-client.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { AUTH_SERVER, mailOf, SUPPORT } from '../support/ticket-mail-world.ts';
import { databaseUrl } from './live-world.ts';

describe('mail to tickets in processes of their own', () => {
  let env: Record<string, string>;
  let db: OpenDatabase;
  let service: SkerrydProcess;
  let email: string;
  let lmtpPort: number;
  const undo: (() => Promise<unknown>)[] = [];

  before(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'skerry-mail-'));
    undo.push(() => rm(dataDir, { recursive: true, force: true }));
    const scratch = await createScratchDatabase({ empty: true });
    undo.push(scratch.drop);
    lmtpPort = await freePort();
    env = {
      ...{ DATABASE_URL: databaseUrl(scratch), SKERRY_DATA_DIR: dataDir, SKERRY_DB_POOL: '4' },
      ...{ SKERRY_TICKET_ADDRESS: SUPPORT, SKERRY_TICKET_AUTHSERV: AUTH_SERVER },
    };
    service = await startSkerryd({ ...env, SKERRY_LMTP_PORT: String(lmtpPort), SKERRY_LOG_LEVEL: 'info' });
    db = openDatabase(scratch.connection, { poolSize: 1 });
    undo.push(() => db.close());
    const customer = SessionClient.forUrl(service.url);
    await customer.signUp();
    email = customer.email;
    await db.run('update customers set email_confirmed_at = now()');
  });
  after(async () => {
    killLeftovers();
    for (const each of undo.reverse()) await each();
  });

  async function pipe(mail: string, recipient: string, sender = 'x@example.org', settings = env) {
    const args = ['tickets', 'receive', `--recipient=${recipient}`, `--sender=${sender}`];
    return await runSkerryd(args, settings, mail);
  }
  const countTickets = async () => (await db.rows('select from tickets')).length;

  it('the command stores a mail, and its exit codes are those that mail servers know', async () => {
    const stored = await pipe(mailOf({ from: email }), SUPPORT);
    assert.deepEqual([stored.code, stored.stdout], [0, 'The ticket has the mail.\n'], stored.stderr);
    assert.equal(await countTickets(), 1);
    for (const [code, line, ran] of [
      [67, /^5\.1\.1 /, await pipe(mailOf({ from: email }), 'x@skerry.example')],
      [77, /^5\.7\.1 /, await pipe(mailOf({ from: 'nobody@example.org' }), SUPPORT)],
      [75, /^4\.3\.0 /, await pipe('x', SUPPORT, 'x', { ...env, DATABASE_URL: 'postgres://127.0.0.1:1/x' })],
    ] as const) {
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stderr, line);
    }
    assert.equal(await countTickets(), 1);
  });

  it('the log says why mail was not stored, and names no one', async () => {
    const client = await LmtpClient.open(lmtpPort);
    const [refused = ''] = await client.deliver(
      mailOf({ from: 'stranger@example.org' }),
      [SUPPORT],
      'a@b.example',
    );
    const [stored = ''] = await client.deliver(
      mailOf({ from: email, body: 'A secret.' }),
      [SUPPORT],
      'a@b.example',
    );
    client.close();
    assert.match(refused, /^550 5\.7\.1 /);
    assert.match(stored, /^250 2\.0\.0 /);
    const { stderr, stdout } = await service.stop();
    const log = stderr + stdout;
    assert.match(log, /mail to tickets was not stored/);
    assert.match(log, /no account/);
    for (const secret of ['stranger', email, 'secret', 'a@b.example', 'No route to web-1']) {
      assert.ok(!log.includes(secret), secret);
    }
  });
});
