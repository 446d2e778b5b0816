import { readFileSync } from 'node:fs';
import { projectFile } from '../../shared/project-file.ts';
import { textTable } from './text-table.ts';

interface Budget {
  /** A figure's name; its part stands before the dot. */
  readonly figure: string;
  /** When given, the figure divided by this one is compared: what the machine does to both cancels out. */
  readonly over?: string;
  /** What the product promises on a machine of its own. */
  readonly budget: number;
  /** What fails the bench. Beyond the budget it allows for neighbours on a shared machine. */
  readonly limit: number;
  readonly why: string;
}

/** Holds the figures of the parts that ran against budgets.json. A figure that is missing is a broken budget. */
export function compareWithBudgets(
  figures: Readonly<Record<string, number>>,
  parts: readonly string[],
): { readonly lines: readonly string[]; readonly broken: readonly string[] } {
  const budgets: readonly Budget[] = JSON.parse(readFileSync(projectFile('test/bench/budgets.json'), 'utf8'));
  const ran = (figure: string) => parts.includes(figure.split('.')[0] ?? '');
  const compared = budgets
    .filter(({ figure, over }) => ran(figure) && (over === undefined || ran(over)))
    .map((budget) => {
      const value = (figures[budget.figure] ?? Number.NaN) / (budget.over ? (figures[budget.over] ?? 0) : 1);
      const name = budget.over ? `${budget.figure} / ${budget.over}` : budget.figure;
      return { ...budget, name, value, isKept: value <= budget.limit };
    });
  const rows = compared.map(({ name, value, budget, limit, isKept }) => [
    name,
    Number.isNaN(value) ? 'none' : `${Number(value.toFixed(2))}`,
    `${budget}`,
    `${limit}`,
    isKept ? (value <= budget ? 'kept' : 'within tolerance') : 'BROKEN',
  ]);
  return {
    lines: textTable(['figure', 'measured', 'budget', 'limit', ''], rows),
    broken: compared.filter(({ isKept }) => !isKept).map(({ name }) => name),
  };
}
