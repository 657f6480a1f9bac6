/** The limits of an API token: the fields of its forms, and the page of a token. */
import { LIMITS } from '../../spec/limits.ts';
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import type { ApiToken } from '../../spec/schemas/api-token.ts';
import type { ShownTokenLimits } from '../../spec/schemas/token-limits.ts';
import { detailList, section, time } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatNumber, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';

/** The fields are named after the members of the body. */
export function limitFields(fields: Fields, limits: ShownTokenLimits | null): Html {
  const list = (member: 'ip_cidrs' | 'operations' | 'resources' | 'regions', title: string, hint: string) =>
    fields.textarea(`limits.${member}`, title, { value: limits?.[member]?.join('\n') ?? '', rows: 2, hint });
  return html`${list('ip_cidrs', 'Networks', 'One per line, such as 203.0.113.0/24.')}
${list('operations', 'Operations', 'One per line, such as servers.list. The API reference names them.')}
${list('resources', 'Resources', 'One ID per line, of servers, volumes, SSH keys, and other resources.')}
${fields.text('limits.label_selector', 'Labels', {
  value: limits?.label_selector ?? '',
  placeholder: 'env=ci,team=web',
  hint: 'Servers, volumes, and snapshots with all of these labels, in addition to the resources above.',
})}
${list('regions', 'Regions', 'One code per line.')}
${fields.text('limits.spend_usd', 'Spending limit (USD)', {
  value: limits?.spend_usd === undefined || limits.spend_usd === null ? '' : String(limits.spend_usd),
  inputmode: 'decimal',
  hint: 'Renewals do not count.',
})}
${fields.select('limits.spend_period', 'Spending limit applies', {
  value: limits?.spend_period ?? 'total',
  choices: [
    ['total', 'In total'],
    ['month', 'Per calendar month (UTC)'],
  ],
})}
${fields.text('limits.max_servers', 'Server limit', {
  value:
    limits?.max_servers === undefined || limits.max_servers === null ? '' : formatNumber(limits.max_servers),
  inputmode: 'numeric',
  hint: 'Servers that it created and that exist at the same time.',
})}`;
}

export function tokenView(data: { readonly token: ApiToken; readonly forms: FormContext }): View {
  const { token, forms } = data;
  return {
    title: token.name,
    section: 'account',
    breadcrumbs: [
      ['Account', ACCOUNT_PATHS.overview],
      ['API tokens', ACCOUNT_PATHS.tokens],
    ],
    body: html`${detailList([
      ['Scope', token.scope],
      ['Last used', token.last_used_at === null ? 'Never' : time(token.last_used_at)],
      ['Expires', token.expires_at === null ? 'Never' : time(token.expires_at)],
      ...(token.limits === null ? [['Limits', 'None'] as const] : limitRows(token)),
      ['ID', html`<code>${token.id}</code>`],
    ])}
${section('Narrow limits', narrowForm(token, forms), 'narrow')}`,
  };
}

function limitRows({ limits, spent_usd: spent }: ApiToken): [string, string | null][] {
  if (limits === null) return [];
  const period = limits.spend_period === 'month' ? 'this month' : 'in total';
  const joined = (items: readonly string[] | null | undefined) => items?.join(', ') ?? null;
  const of = limits.spend_usd === null ? '' : ` of ${usd(limits.spend_usd)}`;
  const rows: [string, string | null][] = [
    ['Networks', joined(limits.ip_cidrs)],
    ['Operations', joined(limits.operations)],
    ['Resources', joined(limits.resources)],
    ['Labels', limits.label_selector],
    ['Regions', joined(limits.regions)],
    ['Spent', `${usd(spent ?? 0)}${of} ${period}`],
    ['Server limit', limits.max_servers === null ? null : formatNumber(limits.max_servers)],
  ];
  return rows.filter(([, value]) => value !== null);
}

function narrowForm({ name, limits }: ApiToken, forms: FormContext): Html {
  const fields = new Fields(forms, 'update');
  return html`<p>Limits can only be narrowed, for this token and those that it created. An empty field changes
nothing. For wider limits, create another token.</p>
${form(
  forms,
  { name: 'update' },
  html`${fields.text('name', 'Name', { value: name, required: true, maxLength: LIMITS.nameMaxChars })}
${limitFields(fields, limits)}
<button>Save changes</button>`,
)}`;
}
