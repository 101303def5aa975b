import { writeFile } from 'node:fs/promises'
import type { Case } from '../test/conventions/faults/fault.ts'
import { faults } from '../test/conventions/faults/faults.ts'

/** Where the faults are told, for reading. */
export const faultsFile = new URL('../contributing/faults.md', import.meta.url)

const head = `<!-- Written by \`npm run docs\`, of test/conventions/faults/; edit that. -->
# Faults

What goes wrong around a service like this one, and the test that causes it for real: a process that is killed or halted, a connection that is cut, a disk that is full, clients that come at the same moment. What is expected of the service is in
the test.

An \`…\` in a title stands for each of several values. One test is run by its title: \`node --test --test-global-setup=test/support/run/setup.ts --test-name-pattern='TITLE' test/FILE\`. The numbers stay what they are.`

const inCell = (text: string) => text.replaceAll('|', '\\|')

function row([number, caused, ...shown]: Case) {
  const by = shown.map(([file, title]) => `[${file}](../test/${file}): ${inCell(title)}`)
  return `| ${number} | ${inCell(caused)} | ${by.join('<br>')} |`
}

/** The page of all faults. */
export const faultsPage = () =>
  `${[
    head,
    ...faults.map(
      ({ title, cases }) =>
        `## ${title}\n\n| | What is caused | Shown by |\n|---:|---|---|\n${[...cases.map(row)].join('\n')}`,
    ),
  ].join('\n\n')}\n`

if (import.meta.main) await writeFile(faultsFile, faultsPage())
