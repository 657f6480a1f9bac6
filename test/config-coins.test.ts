import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, describeConfig, loadConfig } from '../src/config.ts';
import { COIN_SETTINGS } from '../src/spec/settings/coins.ts';

const LIVE = {
  SKERRY_MODE: 'live',
  SKERRY_COMPUTE: 'qemu',
  DATABASE_URL: 'postgres://u:p@db.example/skerry',
};
const NODE = 'http://user:hunter2@127.0.0.1:9332/wallet/watch';
const MONERO = {
  SKERRY_XMR_WALLET_URL: 'http://127.0.0.1:18083',
  SKERRY_XMR_DAEMON_URL: 'http://127.0.0.1:18081',
  SKERRY_XMR_ADDRESS: `4${'A'.repeat(94)}`,
};
const VALUES: Readonly<Record<string, string>> = {
  SKERRY_XMR_ADDRESS: MONERO.SKERRY_XMR_ADDRESS,
  SKERRY_ETH_USDT: `0x${'1'.repeat(40)}`,
  SKERRY_TRON_USDT: `T${'1'.repeat(33)}`,
  SKERRY_WORTHLESS_COINS: 'true',
  SKERRY_QUOTE_SOURCES: 'kraken,bitfinex',
  SKERRY_QUOTE_SOURCES_MIN: '2',
  SKERRY_QUOTE_MAX_AGE_S: '300',
  SKERRY_QUOTE_MAX_SPREAD_PERCENT: '3',
  SKERRY_FIXED_RATES: 'BTC=60000',
  SKERRY_EURO_URL: 'https://euro.example',
};

/** The one-line error for these settings. */
function configErrorMessage(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    assert.doesNotMatch(error.message, /\n|hunter2/);
    return error.message;
  }
  assert.fail('the settings were accepted');
}

test('a sandbox rejects every setting of real coins by name', () => {
  for (const name of Object.keys(COIN_SETTINGS)) {
    const value = VALUES[name] ?? (name.endsWith('_XPUB') ? 'xpub' : NODE);
    assert.match(
      configErrorMessage({ [name]: value }),
      new RegExp(`^${name}: a sandbox has simulated coins only`),
    );
    loadConfig({ [name]: '' });
  }
});

test('a live service may accept no coin at all', () => {
  assert.equal(loadConfig(LIVE).SKERRY_LTC_URL, null);
});

test('a node and its key go together, and so do the three Monero settings', () => {
  const key = { SKERRY_LTC_XPUB: 'zpub' };
  loadConfig({ ...LIVE, SKERRY_LTC_URL: NODE, ...key });
  assert.match(
    configErrorMessage({ ...LIVE, SKERRY_LTC_URL: NODE }),
    /^SKERRY_LTC_XPUB: required, because SKERRY_LTC_URL and .* go together/,
  );
  assert.match(configErrorMessage({ ...LIVE, ...key }), /^SKERRY_LTC_URL: .* go together/);
  loadConfig({ ...LIVE, ...MONERO });
  for (const name of Object.keys(MONERO)) {
    const { [name as keyof typeof MONERO]: _, ...others } = MONERO;
    assert.match(configErrorMessage({ ...LIVE, ...others }), new RegExp(`^${name}: .* go together`));
  }
});

test('a second node requires a first one, and must be a different node', () => {
  const first = { SKERRY_SOL_URL: 'http://127.0.0.1:8899' };
  loadConfig({ ...LIVE, ...first, SKERRY_SOL_SECOND_URL: 'https://other.example' });
  loadConfig({ ...LIVE, ...first, SKERRY_SOL_SECOND_URL: 'http://127.0.0.1:8898' });
  assert.match(
    configErrorMessage({ ...LIVE, SKERRY_SOL_SECOND_URL: 'https://other.example' }),
    /^SKERRY_SOL_URL: /,
  );
  assert.match(
    configErrorMessage({ ...LIVE, ...first, SKERRY_SOL_SECOND_URL: 'http://127.0.0.1:8899/again' }),
    /^SKERRY_SOL_SECOND_URL: the same node as SKERRY_SOL_URL/,
  );
});

test('another spelling, another path on this machine, or another key is still the same node', () => {
  for (const [first, second] of [
    ['http://127.0.0.1:8899', 'http://localhost:8899'],
    ['http://localhost:8899', 'http://[::1]:8899/wallet/x'],
    ['http://127.0.0.1:8899', 'http://u:hunter2@127.1.2.3:8899'],
    ['http://127.0.0.1:80', 'http://localhost'],
    ['http://10.0.0.7:8899', 'http://10.0.0.7:8899/x'],
    ['https://sol.example', 'https://SOL.example:443/'],
    ['https://sol.example./x', 'https://sol.example/x/?api-key=hunter2'],
  ] as const) {
    assert.match(
      configErrorMessage({ ...LIVE, SKERRY_SOL_URL: first, SKERRY_SOL_SECOND_URL: second }),
      /^SKERRY_SOL_SECOND_URL: the same node as SKERRY_SOL_URL/,
      second,
    );
  }
});

test('a second node may use another path of the same https host', () => {
  const first = { SKERRY_SOL_URL: 'https://gate.example/one' };
  loadConfig({ ...LIVE, ...first, SKERRY_SOL_SECOND_URL: 'https://gate.example/two' });
});

test('a node URL without https is accepted only for this machine and private addresses', () => {
  for (const url of [
    'http://10.1.2.3:8899',
    'http://[::1]:8899',
    'http://localhost',
    'https://u:p%40@sol.example/x',
    'https://sol.example/?api-key=hunter2',
  ]) {
    assert.equal(loadConfig({ ...LIVE, SKERRY_SOL_URL: url }).SKERRY_SOL_URL, url);
  }
  for (const url of [
    'http://203.0.113.7:8899',
    'http://sol.example',
    'ws://127.0.0.1',
    'https://sol.example/#hunter2',
    'http://user:%E0%A4%A@127.0.0.1',
    'sol.example',
  ]) {
    assert.match(configErrorMessage({ ...LIVE, SKERRY_SOL_URL: url }), /^SKERRY_SOL_URL: must /);
  }
});

test('invalid addresses are rejected', () => {
  assert.match(
    configErrorMessage({ ...LIVE, ...MONERO, SKERRY_XMR_ADDRESS: '4abc' }),
    /^SKERRY_XMR_ADDRESS: must /,
  );
  assert.match(configErrorMessage({ ...LIVE, SKERRY_ETH_USDT: '0x12' }), /^SKERRY_ETH_USDT: must /);
  assert.match(configErrorMessage({ ...LIVE, SKERRY_TRON_USDT: '0x12' }), /^SKERRY_TRON_USDT: must /);
});

test('the values of nodes and keys are shown as [set] only', () => {
  const views = describeConfig({ ...LIVE, SKERRY_LTC_URL: NODE, SKERRY_LTC_XPUB: 'zpub6hunter2' });
  assert.doesNotMatch(JSON.stringify(views), /hunter2/);
  assert.equal(views.find(({ name }) => name === 'SKERRY_LTC_URL')?.value, '[set]');
  const monero = describeConfig({ ...LIVE, ...MONERO });
  assert.ok(!JSON.stringify(monero).includes(MONERO.SKERRY_XMR_ADDRESS));
});

test('fixed rates need a price of every accepted coin, and replace the price sources', () => {
  const ether = { ...LIVE, SKERRY_ETH_URL: 'http://127.0.0.1:8545', SKERRY_ETH_XPUB: 'xpub' };
  const rates = (text: string, more: Record<string, string> = {}) => {
    return { ...ether, SKERRY_FIXED_RATES: text, ...more };
  };
  loadConfig(rates('ETH=3000.5, USDT=1'));
  assert.match(
    configErrorMessage(rates('ETH=3000')),
    /^SKERRY_FIXED_RATES: USDT is missing, because SKERRY_ETH_URL is set; add USDT=…$/,
  );
  assert.match(
    configErrorMessage(rates('ETH=3000,USDT=1', { SKERRY_QUOTE_SOURCES: 'kraken' })),
    /^SKERRY_QUOTE_SOURCES: replaced by SKERRY_FIXED_RATES; unset one of them$/,
  );
  const euro = { SKERRY_EURO_URL: 'https://euro.example' };
  loadConfig(rates('ETH=3000,USDT=1', euro));
  assert.match(configErrorMessage(rates('ETH=3000,USDT=1,EUR=1.08', euro)), /^SKERRY_EURO_URL: replaced by /);
});

test('invalid fixed rates are rejected at the start, without their value', () => {
  for (const text of ['BTC', 'BTC=', 'BTC=0', 'BTC=-1', 'BTC=1e5', 'BTC=hunter2', 'DOGE=1', 'USDTTRC=1']) {
    const message = configErrorMessage({ ...LIVE, SKERRY_FIXED_RATES: text });
    assert.match(message, /^SKERRY_FIXED_RATES: must be coin=dollars pairs, separated by commas/, text);
  }
  assert.equal(
    configErrorMessage({ ...LIVE, SKERRY_FIXED_RATES: 'BTC=1,BTC=2' }),
    'SKERRY_FIXED_RATES: BTC is listed twice',
  );
});
