/** Volumes: the list with a form to create one, and the page of one volume. */
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Action } from '../../spec/schemas/action.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import { explainDenial } from '../../spec/states.ts';
import { activityPart, refreshWhileRunning } from '../parts/activity.ts';
import { collapsibleForm, listFilterForm } from '../parts/compact-forms.ts';
import {
  day,
  detailList,
  emptyState,
  pager,
  section,
  sectionLink,
  statusBadge,
  table,
} from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatGib, formatNumber } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { formatLabels, labelFilterField, labelLinks, labelsField } from '../parts/label-fields.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { protectedNote, protectionSection } from '../parts/protection.ts';
import { isActionAllowed, serverChoices, serverLink } from './server-choice.ts';

type RegionOption = { readonly id: string; readonly name: string };

export function volumesView(data: {
  readonly volumes: readonly Volume[];
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
  readonly servers: readonly Server[];
  readonly regions: readonly RegionOption[];
  readonly forms: FormContext;
}): View {
  const { filter, servers, regions } = data;
  const filtered = Object.keys(filter).length > 0;
  const label = labelsOf(data.volumes);
  const regionName = regionNames(regions);
  const rows = data.volumes.map((volume) => [
    html`<a href="${resourcePath(PANEL_PATHS.volumes, volume.id)}">${label(volume)}</a>`,
    formatGib(volume.size_gb),
    regionName(volume.region),
    volume.attached_to === null ? statusBadge('detached') : serverLink(volume.attached_to, servers),
    day(volume.created_at),
  ]);
  const columns = ['Name', { name: 'Size', class: 'number' }, 'Region', 'Attached to', 'Created'] as const;
  const list = () => {
    if (rows.length > 0) return table({ caption: 'Volumes', columns, rows });
    return filtered
      ? emptyState('No matching volumes.', html`<a href="${PANEL_PATHS.volumes}">Clear filters</a>`)
      : emptyState(
          'No volumes yet.',
          'A volume is a separate disk that you attach to a server. Create one below.',
          sectionLink('Create volume'),
        );
  };
  return {
    title: 'Volumes',
    section: 'volumes',
    header: { actions: sectionLink('Create volume') },
    live: ['vol_'],
    body: html`${(filtered || rows.length > 0) && filterForm(filter, servers, regions)}
${part('list', list())}
${pager(data)}
${section('Create volume', createForm(data.forms, regions))}`,
  };
}

function filterForm(
  filter: Readonly<Record<string, string>>,
  servers: readonly Server[],
  regions: readonly RegionOption[],
): Html {
  const { name = '', region = '', attached_to: attachedTo = '' } = filter;
  const label = labelsOf(servers);
  return listFilterForm(
    PANEL_PATHS.volumes,
    filter,
    (fields) => html`${fields.text('name', 'Name', { type: 'search', value: name, size: 18 })}
${fields.select('region', 'Region', { value: region, choices: [['', 'Any'], ...regionChoices(regions)] })}
${fields.select('attached_to', 'Attached to', {
  value: attachedTo,
  choices: [['', 'Any'], ...servers.map((server) => [server.id, label(server)] as const)],
})}
${labelFilterField(fields, filter)}`,
  );
}

/** Returns the name of a region by its code. */
function regionNames(regions: readonly RegionOption[]): (id: string) => string {
  const names = new Map(regions.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}

function regionChoices(regions: readonly RegionOption[]): readonly (readonly [string, string])[] {
  return regions.map(({ id, name }) => [id, `${name} (${id})`]);
}

function createForm(forms: FormContext, regions: readonly RegionOption[]): Html {
  const fields = new Fields(forms, 'create');
  const { nameMaxChars, volumeMinGb, volumeMaxGb } = LIMITS;
  return form(
    forms,
    { name: 'create' },
    html`${fields.text('name', 'Name', { required: true, maxLength: nameMaxChars, autocomplete: 'off' })}
${fields.text('size_gb', 'Size (GiB)', {
  type: 'number',
  required: true,
  value: String(volumeMinGb),
  min: volumeMinGb,
  max: volumeMaxGb,
  hint: `${volumeMinGb} to ${formatNumber(volumeMaxGb)}. You can’t decrease it later.`,
})}
${fields.select('region', 'Region', {
  choices: regionChoices(regions),
  hint: 'You can attach the volume only to servers in this region.',
})}
${fields.text('filesystem', 'File system (optional)', {
  maxLength: nameMaxChars,
  autocomplete: 'off',
  hint: 'A note for your records, such as ext4. We don’t format volumes.',
})}
${fields.checkbox('encrypted', 'Encrypted', {
  hint: 'For volumes that you encrypt in the server with LUKS and your own key. You can’t change this later.',
})}
${labelsField(fields, 'Labels (optional)', '')}
<button>Create volume</button>`,
  );
}

export function volumeView(data: {
  readonly volume: Volume;
  readonly regions: readonly RegionOption[];
  /** Servers in the volume's region. */
  readonly servers: readonly Server[];
  /** The latest ones. */
  readonly actions: readonly Action[];
  readonly forms: FormContext;
}): View {
  const { volume, servers, actions, forms } = data;
  const regionName = regionNames(data.regions)(volume.region);
  return {
    title: volume.name,
    section: 'volumes',
    breadcrumbs: [['Volumes', PANEL_PATHS.volumes]],
    header: {
      status: volume.attached_to === null ? statusBadge('detached') : statusBadge('attached', 'good'),
      facts: [formatGib(volume.size_gb), regionName, volume.device && html`<code>${volume.device}</code>`],
    },
    ...refreshWhileRunning(actions),
    live: [volume.id],
    body: html`${part(
      'facts',
      detailList([
        ['Size', formatGib(volume.size_gb)],
        ['Region', regionName],
        [
          'Attached to',
          volume.attached_to === null ? statusBadge('detached') : serverLink(volume.attached_to, servers),
        ],
        ['Device', volume.device && html`<code>${volume.device}</code>`],
        ['Encrypted', volume.encrypted ? 'Yes' : 'No'],
        ['File system', volume.filesystem],
        ['Labels', labelLinks(PANEL_PATHS.volumes, volume.labels)],
        ['Created', day(volume.created_at)],
        ['ID', html`<code>${volume.id}</code>`],
      ]),
    )}
${part(
  'attachment',
  volume.attached_to === null ? attachSection(data, regionName) : detachSection(volume.attached_to, data),
)}
${activityPart(volume.id, 'volume', actions)}
${section('Name, size, and labels', changeForm(volume, forms))}
${protectionSection(forms, 'volume', volume.protection)}
${part('delete', section('Delete', deleteSection(volume, forms)))}`,
  };
}

function attachSection({ servers, forms }: Parameters<typeof volumeView>[0], regionName: string): Html {
  if (!servers.some((server) => isActionAllowed(server, 'attach'))) {
    const reason =
      servers.length === 0
        ? `You have no servers in ${regionName}.`
        : `None of your servers in ${regionName} is running or stopped.`;
    return section('Attach', html`<p>${reason}</p>`);
  }
  const fields = new Fields(forms, 'attach');
  return section(
    'Attach',
    form(
      forms,
      { name: 'attach' },
      html`${fields.select('server', 'Server', {
        choices: serverChoices(servers, 'attach'),
        hint: 'The server sees the volume as a separate disk. Its device name is shown here once attached.',
      })}
<button>Attach volume</button>`,
    ),
  );
}

function detachSection(serverId: string, { servers, forms }: Parameters<typeof volumeView>[0]): Html {
  const server = servers.find(({ id }) => id === serverId);
  if (server && !isActionAllowed(server, 'detach')) {
    const { status, suspended_reason: suspendedReason } = server;
    return section('Detach', html`<p>${explainDenial({ status, suspendedReason }, 'detach')}</p>`);
  }
  return section(
    'Detach',
    html`<p>Unmount the volume in the server first. Otherwise you may lose data that was not written yet.</p>
${form(forms, { name: 'detach' }, html`<button class="plain">Detach volume</button>`)}`,
  );
}

function changeForm(volume: Volume, forms: FormContext): Html {
  const fields = new Fields(forms, 'change');
  return form(
    forms,
    { name: 'change' },
    html`${fields.text('name', 'Name', {
      value: volume.name,
      required: true,
      maxLength: LIMITS.nameMaxChars,
      autocomplete: 'off',
    })}
${fields.text('size_gb', 'Size (GiB)', {
  type: 'number',
  required: true,
  value: String(volume.size_gb),
  min: volume.size_gb,
  max: LIMITS.volumeMaxGb,
  hint: 'You can’t decrease the size. After you increase it, grow the file system in the server.',
})}
${labelsField(fields, 'Labels', formatLabels(volume.labels))}
<button class="plain">Save changes</button>`,
  );
}

function deleteSection(volume: Volume, forms: FormContext): Html {
  if (volume.attached_to !== null) return html`<p>Detach the volume before you delete it.</p>`;
  if (volume.protection.delete) return protectedNote('This volume is protected from deletion.');
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this volume',
    description: 'This permanently deletes the volume and all its data. We keep no copy.',
    content: html`<button class="danger">Delete volume and data</button>`,
  });
}
