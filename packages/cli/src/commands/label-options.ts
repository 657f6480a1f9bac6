/** Options and columns for labels: to change those of a resource, to filter a list, to show them. */
import { Failure } from '../exit-codes.ts';
import { listOf, type Option, pairs } from '../options.ts';
import type { Column } from '../output/format.ts';

type Labels = Readonly<Record<string, string>>;

export const LABEL_CHANGES = {
  label: pairs("Replace all labels; '' removes them"),
  addLabel: pairs('Add a label, or change its value'),
  removeLabel: listOf('key', 'Remove the label with this key'),
};

interface LabelChanges {
  readonly label: Labels | undefined;
  readonly addLabel: Labels | undefined;
  readonly removeLabel: readonly string[] | undefined;
}

export function rejectCombination(all: unknown, some: unknown, name: string): void {
  if (all === undefined || some === undefined) return;
  throw new Failure(
    'usage',
    `--${name} replaces all of them and cannot be combined with --add-${name} or --remove-${name}`,
  );
}

/** Returns the labels that replace those of a resource; undefined if nothing was asked. */
export function changeLabels(
  { labels }: { readonly labels: Labels },
  { label, addLabel, removeLabel }: LabelChanges,
): Record<string, string> | undefined {
  if (label) return { ...label };
  if (!addLabel && !removeLabel) return undefined;
  const all = Object.entries({ ...labels, ...addLabel });
  return Object.fromEntries(all.filter(([key]) => !removeLabel?.includes(key)));
}

const LABEL_KEY = /^[a-z0-9_-]{1,63}$/;

/** `--label env=prod --label tier=web`: the API writes `env:prod`. */
export const LABEL_FILTER: Option<string[] | undefined> = {
  value: 'key=value',
  about: 'Filter by label; repeat it for labels that must all match',
  repeatable: true,
  parse: (texts, name) =>
    texts?.map((text) => {
      const [key = '', ...rest] = text.split('=');
      if (rest.length > 0 && LABEL_KEY.test(key)) return `${key}:${rest.join('=')}`;
      throw new Failure('usage', `${name}: "${text}" is invalid; use key=value, such as env=prod`);
    }),
};

/** A label selector, as the API writes it: `env=prod,tier=web`. */
export function formatSelector(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

export function labelColumn<T extends { readonly labels: Labels }>(): Column<T> {
  return {
    name: 'labels',
    // A service before API 1.7 has no labels of volumes and snapshots.
    value: ({ labels = {} }) => Object.entries(labels).map(([key, value]) => `${key}=${value}`),
    hidden: true,
  };
}
