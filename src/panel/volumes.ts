/** The list of volumes, with a form to make one, and the page of one. */
import { LIMITS } from '../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../spec/paths.ts';
import type { Server } from '../spec/schemas/server.ts';
import type { Volume } from '../spec/schemas/volume.ts';
import { explainDenial } from '../spec/states.ts';
import { collapsibleForm } from './collapsible-form.ts';
import { day, detailList, emptyState, pager, section, statusBadge, table } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { listFilterForm } from './list-filter-form.ts';
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
  const rows = data.volumes.map((volume) => [
    html`<a href="${resourcePath(PANEL_PATHS.volumes, volume.id)}">${volume.name}</a>`,
    `${volume.size_gb} GiB`,
    volume.region,
    volume.attached_to === null ? statusBadge('detached') : serverLink(volume.attached_to, servers),
    day(volume.created_at),
  ]);
  const columns = ['Name', { name: 'Size', class: 'number' }, 'Region', 'Attached to', 'Created'] as const;
  const list = () => {
    if (rows.length > 0) return table({ caption: 'Volumes', columns, rows });
    return filtered
      ? emptyState('No volume is like that.', html`<a href="${PANEL_PATHS.volumes}">Show all volumes</a>`)
      : emptyState('No volumes yet.', 'A volume is a disk that outlives its server. Make one below.');
  };
  return {
    title: 'Volumes',
    section: 'volumes',
    body: html`${(filtered || rows.length > 0) && filterForm(filter, servers, regions)}
${list()}
${pager(data)}
${section('Create a volume', createForm(data.forms, regions))}`,
  };
}

function filterForm(
  filter: Readonly<Record<string, string>>,
  servers: readonly Server[],
  regions: readonly RegionOption[],
): Html {
  const { name = '', region = '', attached_to: attachedTo = '' } = filter;
  return listFilterForm(
    PANEL_PATHS.volumes,
    filter,
    (fields) => html`${fields.text('name', 'Name', { type: 'search', value: name, size: 18 })}
${fields.select('region', 'Region', { value: region, choices: [['', 'any'], ...regionChoices(regions)] })}
${fields.select('attached_to', 'Attached to', {
  value: attachedTo,
  choices: [['', 'anything or nothing'], ...servers.map((server) => [server.id, server.name] as const)],
})}`,
  );
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
${fields.text('size_gb', 'Size in GiB', {
  type: 'number',
  required: true,
  value: String(volumeMinGb),
  min: volumeMinGb,
  max: volumeMaxGb,
  hint: `${volumeMinGb} to ${volumeMaxGb.toLocaleString('en-US')}. It can grow later, never shrink.`,
})}
${fields.select('region', 'Region', {
  choices: regionChoices(regions),
  hint: 'It can be attached to servers of this region only.',
})}
${fields.text('filesystem', 'File system', {
  maxLength: nameMaxChars,
  autocomplete: 'off',
  hint: 'A note for yourself, such as ext4; may stay empty. The service does not format volumes.',
})}
${fields.checkbox('encrypted', 'Encrypted', { hint: 'By LUKS in the server, with a key of yours that reaches it by cloud-init. This cannot be changed later.' })}
<button>Create the volume</button>`,
  );
}

export function volumeView(data: {
  readonly volume: Volume;
  /** Of the volume's region. */
  readonly servers: readonly Server[];
  readonly forms: FormContext;
}): View {
  const { volume, servers, forms } = data;
  return {
    title: volume.name,
    section: 'volumes',
    breadcrumbs: [['Volumes', PANEL_PATHS.volumes]],
    body: html`${detailList([
      ['Size', `${volume.size_gb} GiB`],
      ['Region', volume.region],
      [
        'Attached to',
        volume.attached_to === null ? statusBadge('detached') : serverLink(volume.attached_to, servers),
      ],
      ['Device', volume.device && html`<code>${volume.device}</code>`],
      ['Encrypted', volume.encrypted ? 'yes' : 'no'],
      ['File system', volume.filesystem],
      ['Created', day(volume.created_at)],
      ['Id', html`<code>${volume.id}</code>`],
    ])}
${volume.attached_to === null ? attachSection(data) : detachSection(volume.attached_to, data)}
${section('Name and size', changeForm(volume, forms))}
${section('Delete', deleteSection(volume, forms))}`,
  };
}

function attachSection({ volume, servers, forms }: Parameters<typeof volumeView>[0]): Html {
  if (!servers.some((server) => isActionAllowed(server, 'attach'))) {
    const reason =
      servers.length === 0
        ? `You have no server in ${volume.region}.`
        : `None of your servers in ${volume.region} is running or stopped.`;
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
        hint: 'Within the server it is a disk of its own; the device is shown here then.',
      })}
<button>Attach the volume</button>`,
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
    html`<p>Unmount it within the server first: what was not written to it yet would be lost.</p>
${form(forms, { name: 'detach' }, html`<button class="plain">Detach the volume</button>`)}`,
  );
}

function changeForm(volume: Volume, forms: FormContext): Html {
  const fields = new Fields(forms, 'change');
  return form(
    forms,
    { name: 'change' },
    html`${fields.text('name', 'Name', { value: volume.name, required: true, maxLength: LIMITS.nameMaxChars, autocomplete: 'off' })}
${fields.text('size_gb', 'Size in GiB', {
  type: 'number',
  required: true,
  value: String(volume.size_gb),
  min: volume.size_gb,
  max: LIMITS.volumeMaxGb,
  hint: 'It grows online and never shrinks. The file system on it is yours to enlarge.',
})}
<button class="plain">Save</button>`,
  );
}

function deleteSection(volume: Volume, forms: FormContext): Html {
  if (volume.attached_to !== null) return html`<p>Detach the volume first; then it can be deleted.</p>`;
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this volume',
    words: 'Everything on it is destroyed, for ever. No copy is kept.',
    content: html`<button class="danger">Delete the volume and what is on it</button>`,
  });
}
