import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DATABASE_METRICS, REQUEST_METRICS } from '../../../src/spec/staff/monitoring.ts';
import { findProgram, skipUnlessInstalled } from '../../support/installed-programs.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const RULES = join(ROOT, 'deploy/prometheus');
const PROMTOOL = findProgram(['promtool']);
const NO_PROMTOOL = skipUnlessInstalled(PROMTOOL, 'promtool is not installed: apt-get install prometheus');
const OURS = [...Object.keys(REQUEST_METRICS), ...Object.keys(DATABASE_METRICS)];

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const namesIn = (text: string) => [...new Set(text.match(/\bskerry_[a-z0-9_]+/g))];

describe('the metrics of the operator’s listener', () => {
  let world: StaffWorld;
  let reader: Person;
  let customerEmail = '';

  before(async () => {
    world = await startStaffWorld();
    reader = await world.person('read_only');
    const customer = await world.customer(40);
    customerEmail = customer.email ?? '';
    const api = V1Client.forUrl(world.url, await createApiToken(customer));
    assert.equal((await api.get('/servers')).status, 200);
    assert.equal((await api.get('/servers/srv_unknown')).status, 404);
  });
  after(() => world.close());

  async function scrape(token = reader.token): Promise<{ status: number; type: string; text: string }> {
    const response = await fetch(`${world.console}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const type = response.headers.get('content-type') ?? '';
    return { status: response.status, type, text: await response.text() };
  }

  const sample = (text: string, series: string): number => {
    const line = text.split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1) ?? assert.fail(`${series} is missing`));
  };

  it('need a staff token, and nothing of them is on the customers’ port', async () => {
    assert.equal((await scrape('skerry_staff_wrong')).status, 401);
    assert.equal((await fetch(`${world.console}/metrics`)).status, 401);
    assert.equal((await fetch(`${world.url}/metrics`)).status, 404);
    const { status, type } = await scrape();
    assert.equal(status, 200);
    assert.match(type, /^text\/plain; version=0\.0\.4/);
  });

  it('count requests by pattern and class of status, without anything that a customer sent', async () => {
    const { text } = await scrape();
    const series = (route: string, status: string) =>
      `skerry_requests_total{surface="api",route="${route}",method="GET",status="${status}"}`;
    assert.equal(sample(text, series('/v1/servers', '2xx')), 1);
    assert.equal(sample(text, series('/v1/servers/:id', '4xx')), 1);
    assert.ok(sample(text, 'skerry_request_duration_seconds_count{surface="api"}') >= 2);
    assert.doesNotMatch(text, /srv_|cus_/);
    assert.ok(!text.includes(customerEmail));
  });

  it('report the balances, the top-ups, and the hosts of the database', async () => {
    const { text } = await scrape();
    assert.ok(sample(text, 'skerry_balances_dollars{sign="positive"}') >= 40);
    assert.match(text, /^skerry_topups\{coin="\w+",status="credited"\} [1-9]/m);
    assert.match(text, /^skerry_host_up\{host="[\w-]+"\} [01]$/m);
    assert.match(text, /^skerry_addresses\{region="par",state="free"\} \d+$/m);
    assert.equal(sample(text, 'skerry_queue_due{queue="operations"}'), 0);
  });

  it('are documented, each of them, with every name that the rules and the dashboard use', async () => {
    const { text } = await scrape();
    const shown = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name ?? ''));
    const guide = read('docs/operators/metrics.md');
    assert.deepEqual(
      [...OURS].filter((name) => !shown.has(name)),
      [],
    );
    assert.deepEqual(
      [...shown].filter((name) => !guide.includes(`\`${name}\``)),
      [],
    );
    for (const path of ['deploy/prometheus/skerry.rules.yml', 'deploy/grafana/skerry.json']) {
      const used = namesIn(read(path)).map((name) => name.replace(/_bucket$/, ''));
      assert.ok(used.length > 10, path);
      assert.deepEqual(
        used.filter((name) => !shown.has(name)),
        [],
        path,
      );
    }
    JSON.parse(read('deploy/grafana/skerry.json'));
    const alerts = [...read('deploy/prometheus/skerry.rules.yml').matchAll(/- alert: (\w+)/g)];
    assert.deepEqual(
      alerts.map(([, name]) => name ?? '').filter((name) => !guide.includes(`| \`${name}\` |`)),
      [],
    );
  });

  it('pass promtool, like the rules for alerts', { skip: NO_PROMTOOL }, async () => {
    const { text } = await scrape();
    const run = (args: readonly string[], input = '') => {
      const { status, stdout, stderr } = spawnSync(PROMTOOL ?? '', args, {
        ...{ cwd: RULES, input, encoding: 'utf8' },
      });
      assert.equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`);
    };
    run(['check', 'metrics'], text);
    run(['check', 'rules', 'skerry.rules.yml']);
    run(['test', 'rules', 'skerry.rules.test.yml']);
    run(['check', 'config', '--syntax-only', 'prometheus.yml']);
  });
});
