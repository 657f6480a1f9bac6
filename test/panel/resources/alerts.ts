import assert from 'node:assert/strict';
import { it } from 'node:test';
import { problemOf, textOf } from '../../support/panel-client.ts';
import { pathOf, type ResourceFixture } from './fixture.ts';

export function alertPages(at: () => ResourceFixture): void {
  it('an alert is created for labels, changed to a list of servers, disabled, and deleted', async () => {
    const { done, web, panel } = at();
    const created = await done('/alerts', 'create', {
      ...{ name: 'busy <b>', metric: 'cpu_pct', compare: 'gt', value: '90', window: '10m' },
      ...{ select: 'labels', label_selector: 'env=prod, tier=' },
    });
    const path = pathOf(created);
    assert.match(
      textOf(created.text),
      /busy <b> OK CPU above 90% for 10 minutes Condition .* Servers Servers with env=prod, tier= Created/,
    );
    const listed = await done(path, 'change', {
      ...{ metric: 'net_out_bps', compare: 'lt', value: '5000', window: '1h' },
      ...{ select: 'servers', [`servers.${web}`]: 'on' },
    });
    assert.match(
      textOf(listed.text),
      /OK Outbound traffic below 5,000 bytes\/s for 60 minutes Condition .* Servers web Created/,
    );
    const disabled = await done(path, 'change', { metric: 'unreachable', enabled: null });
    assert.match(
      textOf(disabled.text),
      /disabled Unreachable for 60 minutes Condition .* Servers web Created/,
    );
    assert.match(
      textOf((await panel.open('/alerts')).text),
      /busy <b> Unreachable for 60 minutes web disabled/,
    );
    assert.match(textOf((await done(path, 'delete')).text), /Alert deleted.* No alerts yet\./);
  });

  it('a missing value and an empty list of servers are shown next to their fields', async () => {
    const { refused } = at();
    const fields = { name: 'x', metric: 'cpu_pct', select: 'labels' };
    const without = await refused('/alerts', 'create', fields);
    assert.match(problemOf(without.text, 'value', 'create') ?? '', /required|Enter/i);
    const none = await refused('/alerts', 'create', { ...fields, value: '1', select: 'servers' });
    assert.match(none.text, /id="create-servers-problem"/);
  });

  it('the page of a server shows the alerts that fire for it', async () => {
    const { done, web, panel, world } = at();
    const page = `/servers/${web}`;
    assert.doesNotMatch((await panel.open(page)).text, /Firing alerts/);
    const created = await done('/alerts', 'create', {
      ...{ name: 'any load', metric: 'cpu_pct', value: '0', select: 'servers', [`servers.${web}`]: 'on' },
    });
    await world.advance(600);
    assert.match(
      textOf((await panel.open(page)).text),
      /Firing alerts Alert Condition Since any load CPU above 0% for 5 minutes 20\d\d-/,
    );
    const path = pathOf(created);
    assert.match(textOf((await panel.open(path)).text), /any load firing .* Server Since web 20\d\d-/);
    await done(path, 'delete');
    assert.doesNotMatch((await panel.open(page)).text, /Firing alerts/);
  });
}
