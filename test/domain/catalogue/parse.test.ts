import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseCatalogue } from '../../../src/domain/catalogue/parse.ts';
import { cyclePriceCents } from '../../../src/domain/servers/billing/price.ts';
import { parseUnits } from '../../../src/kernel/money.ts';
import { OperatorError } from '../../../src/kernel/operator-error.ts';
import { CYCLE_DISCOUNT_PERCENT, type CycleMonths } from '../../../src/spec/limits.ts';

const SEED = readFileSync(new URL('../../../catalogue/sandbox.yaml', import.meta.url), 'utf8');

const SMALL = `regions:
  - { id: par, session_code: par, name: Paris, country: FR, pop_id: PAR1 }
plans:
  - id: s1
    category: vps
    cpu: 1
    cpu_model: Some model
    ram_mb: 1024
    disk_gb: 25
    transfer_tb: "1"
    price_usd_month: "7.35"
    regions: [par]
images:
  - family: debian
    version: "12"
    arch: [amd64]
    size_gb: "2"
    cloud_init: true
    released_at: 2023-06-10
`;

function refused(text: string, sandbox = false): string {
  try {
    parseCatalogue(text, { sandbox });
  } catch (error) {
    assert.ok(error instanceof OperatorError, String(error));
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  assert.fail('the file was accepted');
}

test('a small catalog file is parsed', () => {
  const file = parseCatalogue(SMALL, { sandbox: false });
  assert.equal(file.plans[0]?.price_usd_month, '7.35');
});

for (const [fault, from, to, message] of [
  ['an unquoted price', '"7.35"', '7.35', /^catalog, line 11, plans\[0\]\.price_usd_month: .*in quotes/],
  ['a price of three decimals', '"7.35"', '"7.355"', /line 11, plans\[0\]\.price_usd_month/],
  ['a price of zero', '"7.35"', '"0.00"', /price_usd_month: the price must be above 0/],
  ['a misspelled key', 'cpu_model', 'cpu_modell', /line 7, plans\[0\]\.cpu_modell: .*did you mean cpu_model/],
  ['a missing key', '    cloud_init: true\n', '', /line 14, images\[0\]: cloud_init is required/],
  ['an unquoted version', '"12"', '12', /images\[0\]\.version: .*in quotes/],
  ['an unknown category', 'vps', 'vds', /plans\[0\]\.category: expected one of vps, dedicated/],
  ['a plan in an unknown region', '[par]', '[par, xyz]', /line 12, plans\[0\]\.regions\[1\]: .*xyz/],
  ['a duplicate region', '[par]', '[par, par]', /plans\[0\]\.regions\[1\]: par is a duplicate/],
  [
    'a tag in uppercase',
    '    regions: [par]',
    '    host_tags: [NVMe]\n    regions: [par]',
    /host_tags\[0\]: .*a tag/,
  ],
  [
    'host tags of a dedicated plan',
    'vps',
    'dedicated\n    host_tags: []',
    /host_tags: a dedicated server has a/,
  ],
  ['no cores', 'cpu: 1', 'cpu: 0', /plans\[0\]\.cpu: expected a whole number above 0/],
  ['half a core', 'cpu: 1', 'cpu: 1.5', /plans\[0\]\.cpu/],
  ['a nonexistent date', '2023-06-10', '2023-06-31', /released_at: this date does not exist/],
  ['a country by name', 'FR', 'France', /regions\[0\]\.country/],
  ['the reserved family', 'family: debian', 'family: custom', /images\[0\]\.family/],
  ['a duplicate key', 'cpu: 1', 'cpu: 1\n    cpu: 2', /line 7: Map keys must be unique/],
  ['broken YAML', 'plans:', 'plans: [', /^catalog, line \d+: /],
  ['a tab instead of a space', '    cpu: 1', '\tcpu: 1', /^catalog, line \d+: /],
  ['a missing section', 'images:', 'pictures:', /images is required|pictures: unknown key/],
] as const) {
  test(`a catalog file with ${fault} is rejected with the place of the error`, () => {
    assert.ok(SMALL.includes(from));
    assert.match(refused(SMALL.replace(from, to)), message);
  });
}

test('a catalog file that is empty, a list, or plain text is rejected', () => {
  for (const text of ['', '[]', 'hello', '---\n---\n']) assert.match(refused(text), /^catalog, line [12]/);
});

test('a catalog file with an alias bomb is rejected', () => {
  const bomb = ['a: &a [x]'];
  for (let i = 0; i < 12; i++) bomb.push(`b${i}: &b${i} [${Array(9).fill(i === 0 ? '*a' : `*b${i - 1}`)}]`);
  assert.match(refused(bomb.join('\n')), /^catalog/);
});

test('a catalog file with the same image twice is rejected, but another variant is accepted', () => {
  const second = SMALL.slice(SMALL.indexOf('  - family'));
  assert.match(refused(SMALL + second), /images\[1\]\.version: debian 12 is a duplicate/);
  parseCatalogue(SMALL + second.replace('version: "12"', 'version: "12"\n    variant: minimal'), {
    sandbox: false,
  });
});

test('a relative deprecation date is accepted only in a sandbox', () => {
  const text = `${SMALL}    deprecated_days_ago: 30\n`;
  assert.match(refused(text), /line 20, images\[0\]\.deprecated_days_ago/);
  parseCatalogue(text, { sandbox: true });
});

test('a catalog file with an invalid address block is rejected', () => {
  const inventory = (block: string) =>
    `${SMALL}inventory:\n  ip_blocks:\n    - { region: par, block: "${block}" }\n`;
  parseCatalogue(inventory('203.0.113.0/24'), { sandbox: false });
  assert.match(
    refused(inventory('203.0.113.1/24')),
    /line 22, inventory\.ip_blocks\[0\]\.block: .*host bits/,
  );
  assert.match(refused(inventory('203.0.113.0/8')), /inventory\.ip_blocks\[0\]\.block/);
});

test('the sandbox sells every plan in at least two regions, and one plan is missing from one region', () => {
  const { plans, regions } = parseCatalogue(SEED, { sandbox: true });
  assert.deepEqual(
    plans.map((plan) => plan.id),
    ['s1', 's2', 's3', 'r1', 'r2', 'r3'],
  );
  assert.deepEqual(
    regions.map((region) => `${region.id} ${region.session_code}`),
    ['par par', 'rkv rek', 'zrh zrh', 'buh otp'],
  );
  const missing = plans.map((plan) => regions.length - plan.regions.length);
  assert.ok(plans.every((plan) => plan.regions.length >= 2));
  assert.equal(
    missing.reduce((sum, count) => sum + count, 0),
    1,
  );
});

test('the sandbox has 8 machines per dedicated plan and region, and room for 150 large servers', () => {
  const { plans, regions, inventory } = parseCatalogue(SEED, { sandbox: true });
  for (const plan of plans.filter((each) => each.category === 'dedicated')) {
    for (const region of plan.regions) {
      const entry = inventory?.machines?.find((each) => each.plan === plan.id && each.region === region);
      assert.ok((entry?.count ?? 0) >= 8, `${plan.id} in ${region}`);
    }
  }
  const largest = plans.find((plan) => plan.id === 's3');
  assert.ok(largest);
  for (const region of regions) {
    const hosts = inventory?.hosts?.filter((host) => host.region === region.id) ?? [];
    const room = (have: 'ram_mb' | 'disk_gb') =>
      hosts.reduce((sum, host) => sum + Math.floor(host[have] / largest[have]), 0);
    assert.ok(hosts.length >= 2 && room('ram_mb') >= 150 && room('disk_gb') >= 150, region.id);
  }
});

test('some sandbox prices leave half cents after a discount', () => {
  const halves = parseCatalogue(SEED, { sandbox: true }).plans.filter((plan) => {
    const cents = parseUnits(plan.price_usd_month, 2) ?? 0n;
    return ([3, 6] as CycleMonths[]).some((months) => {
      const hundredths = cents * BigInt(months) * BigInt(100 - CYCLE_DISCOUNT_PERCENT[months]);
      if (hundredths % 100n !== 50n) return false;
      assert.equal(cyclePriceCents(cents, months), (hundredths + 50n) / 100n);
      return true;
    });
  });
  assert.equal(halves.length, 6);
});

test('the sandbox has all promised operating systems', () => {
  const { images } = parseCatalogue(SEED, { sandbox: true });
  const names = images.map((image) => `${image.family} ${image.version}`);
  for (const name of ['debian 11', 'debian 12', 'debian 13', 'ubuntu 22.04', 'ubuntu 24.04']) {
    assert.ok(names.includes(name), name);
  }
  for (const family of ['alpine', 'fedora', 'rocky', 'freebsd']) {
    const found = images.filter((image) => image.family === family);
    assert.ok(
      found.length > 0 && found.every((image) => image.cloud_init === (family !== 'freebsd')),
      family,
    );
  }
  const deprecated = images.filter((image) => image.deprecated_days_ago !== undefined);
  assert.deepEqual(
    deprecated.map((image) => image.version),
    ['11'],
  );
});
