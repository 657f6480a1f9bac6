/** The pages in docs/operators as text. */
import { readdirSync } from 'node:fs';
import { readGuide } from './docs-content.ts';

const GENERATED_PAGES = ['settings.md', 'commands.md'];

/** Returns the texts of docs/operators, with or without the generated pages. */
export function operatorPages({ generated }: { readonly generated: boolean }): readonly string[] {
  return readdirSync(new URL('../../docs/operators/', import.meta.url))
    .filter((file) => generated || !GENERATED_PAGES.includes(file))
    .map((file) => readGuide(`operators/${file.replace('.md', '')}`));
}
