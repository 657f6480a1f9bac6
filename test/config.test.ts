import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseUrl, ConfigError, describeConfig, loadConfig } from '../src/config.ts';
import { KeyRing } from '../src/kernel/secrets.ts';
import { SETTINGS } from '../src/spec/settings.ts';

const LIVE = {
  SKERRY_MODE: 'live',
  SKERRY_COMPUTE: 'qemu',
  DATABASE_URL: 'postgres://u:hunter2@db.example/skerry',
};

/** The one-line error for these settings. */
function configErrorMessage(env: Record<string, string>, dotEnv = ''): string {
  try {
    loadConfig(env, dotEnv);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  assert.fail('the settings were accepted');
}

test('without settings the service is a sandbox on this machine', () => {
  const config = loadConfig({});
  assert.equal(config.SKERRY_MODE, 'sandbox');
  assert.equal(config.SKERRY_PORT, 8080);
  assert.equal(config.SKERRY_SANDBOX_PUBLIC, false);
  assert.equal(config.DATABASE_URL, null);
  assert.equal(config.SKERRY_SIGNUPS_PER_HOUR, 0);
  assert.match(config.SKERRY_DATA_DIR, /^\/.*\/data$/);
  assert.equal(baseUrl(config), 'http://127.0.0.1:8080');
});

test('a live service has its own defaults', () => {
  assert.equal(loadConfig(LIVE).SKERRY_SIGNUPS_PER_HOUR, 10);
});

test('the environment takes precedence over .env, and an empty value counts as unset', () => {
  const config = loadConfig(
    { SKERRY_PORT: '9000', SKERRY_DB_POOL: '' },
    'SKERRY_PORT=1\nSKERRY_DB_POOL=7\nOTHER=1',
  );
  assert.equal(config.SKERRY_PORT, 9000);
  assert.equal(config.SKERRY_DB_POOL, 7);
});

test('the values are frozen', () => {
  assert.ok(Object.isFrozen(loadConfig({})));
});

test('an error for a misspelled setting suggests the correct name', () => {
  assert.match(configErrorMessage({ SKERRY_PROT: '1' }), /^SKERRY_PROT: .*SKERRY_PORT/);
  assert.match(configErrorMessage({}, 'SKERRY_DATADIR=x'), /SKERRY_DATA_DIR/);
  assert.match(configErrorMessage({ SKERRY_SOMETHING_ELSE_ALTOGETHER: '1' }), /skerryd config/);
});

test('test settings and unrelated variables are ignored', () => {
  loadConfig({ SKERRY_TEST_PG: '{}', PATH: '/bin', SKERRYX: '1' });
});

test('the four variables of the customers’ CLI are ignored, but similar names are rejected', () => {
  const names = ['SKERRY_TOKEN', 'SKERRY_API_URL', 'SKERRY_CONTEXT', 'SKERRY_CONFIG'];
  const env = Object.fromEntries(names.map((name) => [name, 'x']));
  assert.deepEqual(loadConfig(env), loadConfig({}));
  assert.deepEqual(loadConfig({}, 'SKERRY_TOKEN=x'), loadConfig({}));
  for (const name of names) {
    assert.ok(!describeConfig(env).some((setting) => setting.name === name));
    assert.match(configErrorMessage({ [`${name}S`]: '1' }), /unknown setting/);
  }
});

for (const [name, values] of Object.entries({
  SKERRY_MODE: ['LIVE', 'test'],
  SKERRY_HOST: ['http://x', 'a b'],
  SKERRY_PORT: ['65536', '-1', '80.5', 'http', '1e3', ' 80'],
  SKERRY_BASE_URL: [
    'example.org',
    'ftp://example.org',
    'https://u:p@example.org',
    'https://example.org/path',
  ],
  SKERRY_SECRET_KEY: ['geheim', 'k1:c2hvcnQ=', `${KeyRing.generate()},${KeyRing.generate()}`],
  SKERRY_TRUSTED_PROXIES: [
    'proxy.example',
    '10.0.0.1/8',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/33',
    '127.0.0.1;::1',
    '*',
  ],
  SKERRY_QEMU_ALLOW_PRIVATE: ['10.0.0.1', '10.0.0.1/8', 'fd00::/129', 'private'],
  SKERRY_QEMU_ROUTE_COMMAND: ['routes.sh', './routes'],
  SKERRY_SMTP_URL: [
    'mail.example.org:587',
    'http://mail.example.org',
    'smtp://ann@mail.example.org',
    'smtp://a/b',
  ],
  SKERRY_DNS_URL: [
    'dns.example',
    'http://dns.example:8081',
    'http://203.0.113.9:8081',
    'https://u:p@dns.example',
  ],
  SKERRY_DNS_KEY: ['two words', 'ключ', 'a'.repeat(513)],
  SKERRY_S3_URL: ['s3.example', 'http://s3.example', 'https://u:p@s3.example'],
  SKERRY_S3_BUCKET: ['ab', 'Files', 'a/b', '-files'],
  SKERRY_S3_REGION: ['us east', 'a/b'],
  SKERRY_S3_ACCESS_KEY: ['two words', 'a'.repeat(257)],
  SKERRY_S3_SECRET_KEY: ['two words', 'ключ'],
  SKERRY_MAIL_FROM: ['Skerry', 'a@b.example, c@d.example', 'Skerry\nBcc: <a@b.example>'],
  SKERRY_SANDBOX_PUBLIC: ['yes', '1', 'TRUE'],
  SKERRY_TOKEN_PREFIX: ['Skerry', 'a_b', '1a', 'a'.repeat(21)],
  SKERRY_LOG_LEVEL: ['loud'],
  SKERRY_DB_POOL: ['1', '201', '3.5'],
  SKERRY_RATE_CAPACITY: ['0', '1e6', 'many'],
  SKERRY_CRASH_AT: [
    'anywhere at all',
    'before compute.ensure',
    'after commit() 1',
    'before compute.ensure 0',
  ],
  DATABASE_URL: ['mysql://x', 'db.example'],
})) {
  test(`an invalid ${name} is reported by name, without the value`, () => {
    for (const value of values) {
      const line = configErrorMessage({ [name]: value });
      assert.ok(line.startsWith(`${name}: `), line);
      if (value.length > 6) assert.ok(!line.includes(value), line);
    }
  });
}

test('valid values of every type are accepted', () => {
  const key = KeyRing.generate();
  const config = loadConfig({
    SKERRY_BASE_URL: 'https://example.org/',
    SKERRY_SECRET_KEY: key,
    SKERRY_SIM_BLOCK_S: '0.25',
    SKERRY_CRASH_AT: 'before compute.ensure 1',
    DATABASE_URL: 'postgresql:///skerry?host=/run/postgresql',
  });
  assert.equal(baseUrl(config), 'https://example.org');
  assert.equal(config.SKERRY_SECRET_KEY, key);
  assert.equal(config.SKERRY_SIM_BLOCK_S, 0.25);
  assert.equal(config.SKERRY_CRASH_AT, 'before compute.ensure 1');
});

test('the base URL contains the actual port, and brackets around an IPv6 address', () => {
  assert.equal(baseUrl(loadConfig({ SKERRY_PORT: '0' }), 4321), 'http://127.0.0.1:4321');
  assert.equal(baseUrl(loadConfig({ SKERRY_HOST: '::1' })), 'http://[::1]:8080');
});

test('a live service requires its own database', () => {
  assert.match(configErrorMessage({ SKERRY_MODE: 'live' }), /^DATABASE_URL: /);
});

test('a live service requires real machines', () => {
  assert.match(configErrorMessage({ ...LIVE, SKERRY_COMPUTE: 'simulator' }), /^SKERRY_COMPUTE: /);
});

test('a mail server requires a sender, and in a live service a base URL for links', () => {
  const mail = { SKERRY_SMTP_URL: 'smtp://mail.example', SKERRY_MAIL_FROM: 'Skerry <a@b.example>' };
  loadConfig(mail);
  loadConfig({ ...LIVE, ...mail, SKERRY_BASE_URL: 'https://panel.example' });
  assert.match(configErrorMessage({ SKERRY_SMTP_URL: mail.SKERRY_SMTP_URL }), /^SKERRY_MAIL_FROM: /);
  assert.match(configErrorMessage({ SKERRY_MAIL_FROM: mail.SKERRY_MAIL_FROM }), /^SKERRY_SMTP_URL: /);
  assert.match(configErrorMessage({ ...LIVE, ...mail }), /^SKERRY_BASE_URL: /);
});

test('a DNS server requires its key, and http is accepted only for private addresses', () => {
  for (const url of [
    'http://127.0.0.1:8081',
    'http://[::1]:8081',
    'http://10.0.0.2',
    'https://dns.example',
  ]) {
    assert.equal(loadConfig({ SKERRY_DNS_URL: url, SKERRY_DNS_KEY: 'k' }).SKERRY_DNS_URL, url);
  }
  assert.match(configErrorMessage({ SKERRY_DNS_URL: 'https://dns.example' }), /^SKERRY_DNS_KEY: /);
  assert.match(configErrorMessage({ SKERRY_DNS_KEY: 'k' }), /^SKERRY_DNS_URL: /);
});

test('the settings of a file store go together', () => {
  const settings = {
    SKERRY_S3_URL: 'https://s3.example',
    SKERRY_S3_BUCKET: 'files',
    SKERRY_S3_ACCESS_KEY: 'key',
    SKERRY_S3_SECRET_KEY: 'secret',
  };
  assert.equal(loadConfig(settings).SKERRY_S3_BUCKET, 'files');
  for (const name of Object.keys(settings)) {
    assert.match(
      configErrorMessage({ ...settings, [name]: '' }),
      new RegExp(`^${name}: required with SKERRY_S3_`),
    );
  }
});

test('crash places are rejected in a live service', () => {
  assert.match(
    configErrorMessage({ ...LIVE, SKERRY_CRASH_AT: 'before compute.ensure 1' }),
    /^SKERRY_CRASH_AT: /,
  );
});

test('a sandbox listens on other addresses than loopback only if the setting allows it', () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org', '127.example.org']) {
    const refused = configErrorMessage({ SKERRY_HOST: host });
    assert.match(refused, /^SKERRY_HOST: .*SKERRY_SANDBOX_PUBLIC=true, and SKERRY_BASE_URL/);
    loadConfig({ SKERRY_HOST: host, SKERRY_SANDBOX_PUBLIC: 'true' });
    loadConfig({ ...LIVE, SKERRY_HOST: host });
  }
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) loadConfig({ SKERRY_HOST: host });
  assert.match(SETTINGS.SKERRY_SANDBOX_PUBLIC.about, /needs SKERRY_BASE_URL/);
});

test('the description has every setting and its source, and no secret', () => {
  const views = describeConfig({ ...LIVE, SKERRY_PORT: '81' }, 'SKERRY_LOG_LEVEL=warn');
  assert.deepEqual(
    views.map((view) => view.name),
    Object.keys(SETTINGS),
  );
  const view = (name: string) => views.find((each) => each.name === name);
  assert.partialDeepStrictEqual(view('DATABASE_URL'), { value: '[set]', source: 'environment' });
  assert.partialDeepStrictEqual(view('SKERRY_SECRET_KEY'), { value: null, source: 'default' });
  assert.partialDeepStrictEqual(view('SKERRY_PORT'), { value: '81', source: 'environment' });
  assert.partialDeepStrictEqual(view('SKERRY_LOG_LEVEL'), { value: 'warn', source: '.env' });
  assert.partialDeepStrictEqual(view('SKERRY_SIGNUPS_PER_HOUR'), { value: '10', source: 'default' });
  assert.doesNotMatch(JSON.stringify(views), /hunter2/);
});

test('the port for Tor is off by default, and only this machine or a private network reaches it', () => {
  assert.equal(loadConfig({}).SKERRY_ONION_PORT, null);
  assert.equal(loadConfig({ SKERRY_ONION_PORT: '8081' }).SKERRY_ONION_PORT, 8081);
  for (const host of ['0.0.0.0', '::', '198.51.100.7', 'tor.example']) {
    assert.match(configErrorMessage({ SKERRY_ONION_HOST: host }), /^SKERRY_ONION_HOST: .*any circuit/);
  }
  loadConfig({ SKERRY_ONION_HOST: '10.0.0.2' });
});
