/** `skerryd chain`: checks, output, and refusals. */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { base58, hex } from '@scure/base';
import type { Service } from '../../src/domain/context.ts';
import { coinFindings } from '../../src/domain/topups/chains/coin-findings.ts';
import { solanaAddress } from '../../src/drivers/chain/addresses.ts';
import { ed25519PublicKey } from '../../src/drivers/chain/simnet/networks.ts';
import type { CoinContext } from '../../src/operator/context.ts';
import { runOperator } from '../../src/operator/run.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TopupWorld } from '../support/topup-world.ts';

const seed = (n: number) => new Uint8Array(32).fill(n);
const address = (n: number) => solanaAddress(ed25519PublicKey(seed(n)));

const MARKET = {
  sources: ['kraken', 'bitfinex'],
  rules: { maxAgeS: 300, sourcesMin: 2, maxSpreadPercent: 3 },
};

describe('skerryd chain', () => {
  let world: TopupWorld;
  let live: Service;
  let file: string;
  before(async () => {
    world = await TopupWorld.start();
    const settings = { ...world.service.settings, mode: 'live' } as const;
    // This test sells no servers.
    const compute = { capabilities: { vps: null, dedicated: null } } as unknown as Service['compute'];
    live = { ...world.service, settings, compute };
    await world.db.run(`insert into service (mode, key_check) values ('live', 'none')`);
    file = scratchFolder();
  });
  after(async () => {
    await world.close();
    await rm(file, { force: true });
  });

  /** The scripted chain issues BTC addresses by index. */
  const desk: CoinContext = {
    market: MARKET,
    fixedPrices: new Map(),
    deriverFor: (coin) =>
      coin === 'BTC'
        ? {
            path: '0/',
            coinAt: () => 'BTC',
            addressAt: async (number) => given.get(number) ?? `bc1-${number}`,
          }
        : null,
  };
  const given = new Map<number, string>();

  async function run(argv: readonly string[], coins: CoinContext | null = desk) {
    const out: string[] = [];
    const err: string[] = [];
    const resources = {
      settings: () => [],
      database: async () => world.db,
      service: async () => ({
        service: live,
        register: async () => undefined,
        carryOut: async () => undefined,
        coins,
      }),
    };
    const terminal = {
      out: (line: string) => void out.push(line),
      err: (line: string) => void err.push(line),
    };
    const code = await runOperator(argv, resources, undefined, { ...terminal, ask: null });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }
  async function importing(text: string) {
    await writeFile(file, text);
    return await run(['chain', 'import', 'SOL', file]);
  }

  it('import adds new public addresses in their order and skips known ones', async () => {
    const text = `# made on 3 May\n${address(1)} 0001\n\n${address(2)}\r\n`;
    assert.match((await importing(text)).out, /^2 addresses added, 0 already known; 2 of SOL available$/);
    assert.match(
      (await importing(`${address(3)}\n${address(2)}`)).out,
      /^1 address added, 1 already known; 3 of SOL/,
    );
    const { out } = await run(['chain', 'addresses', 'SOL']);
    const found = out.split('\n').slice(1);
    assert.deepEqual(
      found.map((line) => line.trim().split(/\s+/)[2]),
      [1, 2, 3].map(address),
    );
  });

  it('import rejects private keys, program addresses, and typos by line, without echoing them', async () => {
    const pair = base58.encode(Uint8Array.of(...seed(9), ...ed25519PublicKey(seed(9))));
    const wrong: [string, RegExp][] = [
      [`${address(4)}\n${pair}`, /line 2: this is a private key/],
      [JSON.stringify([...seed(9)]), /key pair/],
      [`${address(4)}\nabc0`, /line 2: not a Solana address/],
      // Not a point on the curve.
      [base58.encode(hex.decode('02'.repeat(32))), /line 1: .*no one has its key/],
      [`${address(5)}\n${address(5)}`, /line 2: same address as in line 1/],
      ['# nothing\n', /the file contains no address/],
    ];
    for (const [text, says] of wrong) {
      const { code, err, out } = await importing(text);
      assert.deepEqual([code, out], [1, ''], text);
      assert.match(err, says);
      assert.ok(
        !err.includes(text.split('\n').at(-1)?.slice(0, 12) || '\0') || /same|nothing/.test(err + text),
        err,
      );
    }
    assert.equal((await run(['chain', 'import', 'SOL', '/nowhere/at/all'])).code, 1);
    assert.equal((await run(['chain', 'import', 'BTC', file])).code, 2);
  });

  it('addresses marks issued addresses and their received amounts', async () => {
    const topup = await world.createInvoice(50);
    given.set(1, topup.deposit_address);
    world.btc.pay(topup.deposit_address, 200_000n);
    world.btc.mine(1);
    await world.runUntilIdle();
    const { code, out } = await run(['chain', 'addresses', 'BTC', '--from', '0', '--count', '3']);
    assert.equal(code, 0);
    const lines = out.split('\n');
    assert.match(
      lines[2] ?? '',
      new RegExp(`^1 +0/1 +BTC +${topup.deposit_address} +given out +0\\.002 BTC$`),
    );
    assert.match(lines[1] ?? '', /^0 +0\/0 +BTC +bc1-0$/);
    const paid = (await run(['chain', 'addresses', 'BTC', '--paid', '--count', '100'])).out.split('\n');
    assert.equal(paid.length, 2);
  });

  it('addresses explains why it has none to list', async () => {
    assert.match((await run(['chain', 'addresses', 'LTC'])).err, /LTC is not enabled/);
    assert.match((await run(['chain', 'addresses', 'LTC'], null)).err, /sandbox/);
    assert.equal((await run(['chain', 'addresses', 'DOGE'])).code, 2);
    assert.equal((await run(['chain', 'addresses', 'BTC', '--count', '100000'])).code, 1);
  });

  it('doctor checks every chain and every price, and exits 1 if anything needs attention', async () => {
    const { code, out } = await run(['chain', 'doctor']);
    assert.equal(code, 1);
    assert.match(out, /^OK +BTC +block \d+/m);
    assert.match(out, /^FAIL +rates +BTC: no rate/m);
    assert.match((await run(['chain', 'doctor'], null)).out, /^OK +coins +simulated/);
    world.btc.ok = false;
    assert.match((await run(['chain', 'doctor'])).out, /^FAIL +BTC /m);
    world.btc.ok = true;
  });

  it('doctor fails if no coin is enabled', async () => {
    const none: Service = { ...live, chains: new Map() };
    const before = live;
    live = none;
    const { code, out } = await run(['chain', 'doctor']);
    live = before;
    assert.equal(code, 1);
    assert.match(out, /^FAIL +coins +no coin is accepted/);
  });

  it('status notes a coin that is no longer enabled', async () => {
    const without = { ...live, chains: new Map([...live.chains].filter(([coin]) => coin !== 'BTC')) };
    const [alarm] = await coinFindings(without);
    assert.deepEqual(
      [alarm?.level, /^BTC: no longer accepted; .* 1 addresses .* are not seen/.test(alarm?.message ?? '')],
      ['note', true],
    );
  });

  it('status reports missing prices, notes silent sources, and omits prices that are fine', async () => {
    const rates = async () => {
      const { out } = await run(['status']);
      return out.split('\n').filter((line) => /^\S+ +rates /.test(line));
    };
    const say = async (coin: string, source: string) => {
      await world.db.run(
        `insert into quotes (coin, source, usd, quoted_at) values ($1, $2, '1.08', $3)
         on conflict (coin, source) do update set quoted_at = excluded.quoted_at`,
        [coin, source, world.clock.now()],
      );
    };
    for (const coin of [...live.chains.keys()]) for (const source of MARKET.sources) await say(coin, source);
    const [euro = '', ...others] = await rates();
    assert.deepEqual([others, /^WARN +rates +EUR: no rate yet/.test(euro)], [[], true], euro);
    await say('EUR', 'ecb');
    assert.deepEqual(await rates(), []);
    world.clock.advanceMinutes(6);
    for (const source of MARKET.sources) await say('ETH', source);
    await say('BTC', 'kraken');
    const [missing = '', ...more] = await rates();
    assert.match(missing, /^FAIL +rates +BTC: no rate: 1 price .*; bitfinex last gave a price at /);
    assert.deepEqual(more, []);
    const { market } = desk;
    const three = { ...market, sources: [...market.sources, 'coingecko'] };
    await say('BTC', 'bitfinex');
    await say('ETH', 'coingecko');
    const { out } = await run(['status'], { ...desk, market: three });
    assert.match(out, /^NOTE +rates +BTC: 1\.08 from 2 of 3 sources.*; coingecko has never given a price$/m);
    assert.doesNotMatch(out, /rates +ETH/);
  });

  it('status reports unread chains and payments that the second node lacks', async () => {
    const says = async () => (await coinFindings(live)).map((each) => each.message).join('\n');
    assert.equal(await says(), '');
    await world.db.run(`update deposits set agreed = false`);
    world.clock.advanceMinutes(40);
    const said = await says();
    assert.match(said, /BTC: 1 payments are confirmed by only one source/);
    assert.match(said, /BTC: not read since .* UTC/);
  });
});
