/** The mutations still fit the sources, and every figure has tests and a mutation that they catch. */
import assert from 'node:assert/strict';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { mutate } from '../../scripts/mutations/scratch-copy.ts';
import { reliabilityPage } from '../../scripts/reliability-page.ts';
import { MUTATIONS } from '../mutations/all.ts';
import type { NamedTest } from '../mutations/figure.ts';
import { FIGURES, RELIABILITY } from '../mutations/figures.ts';
import type { Mutation } from '../mutations/mutation.ts';
import { SECURITY } from '../mutations/security-figures.ts';
import { readTree } from '../support/project-files.ts';

const MIN_MUTATIONS = 40;
const MAX_BUDGET_S = 120;
const SOURCES = readTree(['src'], /\.(?:ts|sql)$/);
const PAGE = 'docs/contributors/reliability.md';
const TESTS = readTree(['test'], /\.test\.ts$/);
/** The titles of a file, with their expressions. */
const TITLE = /\b(?:it|test)\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|`((?:[^`\\]|\\.)*)`)/g;

function isTest({ file, name }: NamedTest): boolean {
  const titles = [...(TESTS.get(file) ?? '').matchAll(TITLE)];
  const texts = titles.map(([, single, double, template]) => single ?? double ?? template ?? '');
  return name !== '' && texts.some((text) => text.replaceAll('\\', '').includes(name));
}

function faultOf(mutation: Mutation): string | null {
  const text = SOURCES.get(mutation.file);
  if (text === undefined) return `${mutation.name}: there is no ${mutation.file}`;
  try {
    const changed = mutate(text, mutation);
    if (changed === text) return `${mutation.name}: changes nothing`;
    if (mutation.file.endsWith('.ts')) stripTypeScriptTypes(changed);
    return null;
  } catch (error) {
    return String(error);
  }
}

test(`there are at least ${MIN_MUTATIONS} mutations, and each has a name of its own`, () => {
  assert.ok(MUTATIONS.length >= MIN_MUTATIONS);
  assert.equal(new Set(MUTATIONS.map(({ name }) => name)).size, MUTATIONS.length);
});

test('each mutation changes one place of a source, which still parses', () => {
  assert.deepEqual(
    MUTATIONS.map(faultOf).filter((fault) => fault !== null),
    [],
  );
});

test('each test that a mutation or a figure names exists', () => {
  const named = [
    ...MUTATIONS.map(({ caughtBy }) => caughtBy),
    ...Object.values(FIGURES).flatMap((figure) => [...figure.tests]),
  ];
  assert.deepEqual(
    named.filter((each) => !isTest(each)),
    [],
  );
});

test('each figure has a test, and a mutation that must be caught', () => {
  assert.equal(Object.keys(RELIABILITY).length, 12);
  assert.equal(Object.keys(SECURITY).length, 11);
  const covered = new Set<string>(MUTATIONS.map(({ figure }) => figure));
  assert.deepEqual(
    Object.keys(FIGURES).filter((id) => !covered.has(id)),
    [],
  );
});

test('the page of figures is current; run npm run docs', () => {
  assert.equal(readTree([PAGE], /./).get(PAGE), reliabilityPage());
});

test('a mutation is caught within seconds, by a test that runs at its level', () => {
  assert.deepEqual(
    MUTATIONS.filter(({ budgetS }) => budgetS > MAX_BUDGET_S),
    [],
  );
});
