/** Reads the HTML of our own pages, which is regular enough for regular expressions. */

type Attributes = Readonly<Record<string, string>>;

function attributesOf(tag: string): Attributes {
  return Object.fromEntries(
    [...tag.matchAll(/\s([\w-]+)(?:="([^"]*)")?/g)].map((at) => [at[1], at[2] ?? '']),
  );
}

/** The form of that name, and of that `key` where it is given. */
export function findForm(page: string, name: string, key: string | undefined) {
  for (const [, tag = '', content = ''] of page.matchAll(/<form((?:\s[^>]*)?)>(.*?)<\/form>/gs)) {
    const hidden = (field: string) => controlsOf(content).find((control) => control.name === field)?.value;
    if (hidden('_form') === name && (key === undefined || hidden('key') === key))
      return { attributes: attributesOf(tag), content };
  }
  throw new Error(`there is no form ${name}${key === undefined ? '' : ` of ${key}`} on the page`);
}

/** What a form holds, in its order. `value` null: a box that is not ticked, a file that is not chosen. */
export function controlsOf(
  form: string,
): readonly { readonly name: string; readonly value: string | null }[] {
  const tags = form.matchAll(/<(input|textarea|select)(\s[^>]*)>(?:\n?(.*?)<\/\1>)?/gs);
  return [...tags].flatMap(([, kind, tag = '', content = '']) => {
    const at = attributesOf(tag);
    if (at.name === undefined || at.disabled !== undefined) return [];
    return [{ name: decodeEntities(at.name), value: currentValue(kind ?? '', at, content) }];
  });
}

function currentValue(kind: string, at: Attributes, content: string): string | null {
  if (kind === 'textarea') return decodeEntities(content);
  if (kind === 'select') {
    const options = [...content.matchAll(/<option([^>]*)>([^<]*)/g)].map(([, tag = '', text = '']) => {
      const option = attributesOf(tag);
      return { ...option, value: option.value ?? text.trim() };
    });
    const chosen = options.find((option) => 'selected' in option);
    return decodeEntities((chosen ?? options.find((option) => !('disabled' in option)))?.value ?? '');
  }
  if (at.type === 'file') return null;
  if (at.type === 'checkbox' || at.type === 'radio')
    return at.checked === undefined ? null : decodeEntities(at.value ?? 'on');
  return decodeEntities(at.value ?? '');
}

export function decodeEntities(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

/** What a reader sees: no tags, one space between words. */
export function textOf(page: string): string {
  return decodeEntities(page.replace(/<head>.*?<\/head>|<[^>]*>/gs, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}

/** What stands beside a field, of the form of that name where it is given; null: nothing is wrong. */
export function problemOf(page: string, field: string, form = ''): string | null {
  const id = `${form === '' ? '' : `${form}-`}${field}-problem`.replace(/[^\w-]/g, '-');
  for (const [, found = '', text = ''] of page.matchAll(/<p class="problem" id="([^"]*)">(.*?)<\/p>/gs)) {
    if (found === id || (form === '' && found.endsWith(`-${id}`))) return textOf(text);
  }
  return null;
}

export interface PageForm {
  readonly name: string;
  /** Tells forms of one name apart; null: there is one. */
  readonly key: string | null;
  /** Names of the fields that are typed into. */
  readonly textFields: readonly string[];
}

const TEXT_INPUT_TYPES = /^(?:text|email|password|number|url|search|date|datetime-local|tel)$/;

/** The forms of a page that are sent by POST, in their order. */
export function formsOf(page: string): readonly PageForm[] {
  return [...page.matchAll(/<form(?:\s[^>]*)?>(.*?)<\/form>/gs)].flatMap(([, content = '']) => {
    const controls = controlsOf(content);
    const hidden = (field: string) => controls.find((control) => control.name === field)?.value ?? null;
    const name = hidden('_form');
    if (name === null) return [];
    const textFields = [...content.matchAll(/<(input|textarea)(\s[^>]*)>/g)].flatMap(([, kind, tag = '']) => {
      const at = attributesOf(tag);
      const typed = kind === 'textarea' || TEXT_INPUT_TYPES.test(at.type ?? 'text');
      return typed && at.name !== undefined && at.disabled === undefined ? [decodeEntities(at.name)] : [];
    });
    return [{ name, key: hidden('key'), textFields: [...new Set(textFields)] }];
  });
}
