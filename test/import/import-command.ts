import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { createDirectory, runCommand } from '../support/processes.ts'
import type { Caller, TestApi } from '../support/service.ts'

/** The result of `tillbridge import`. */
export interface ImportRun {
  code: number | null
  out: string
  err: string
  /** The content of the CSV file with rejected lines, or an empty string. */
  rejectedFile: string
  /** The columns and the reason of each rejected line. */
  reasons: string[]
  /** The numbers of lines: read, new, changed, unchanged, rejected. */
  counts: number[]
}

/** Returns a function that writes a file and runs `tillbridge import` with it for a service of the installation. */
export function createImporter(installation: TestApi) {
  const directory = createDirectory()
  const environment = buildEnvironment(installation, directory)
  return async (
    { service }: Pick<Caller, 'service'>,
    kind: string,
    text: string,
    { file = `${kind}.csv`, args = [] as readonly string[] } = {},
  ): Promise<ImportRun> => {
    const path = join(directory, file)
    await writeFile(path, text)
    const { code, out, err } = await runCommand(['import', kind, path, '--service', service.name, ...args], environment)
    const [, rejectedPath] = /^The rejected lines are in (.*), with reasons/m.exec(out) ?? []
    const rejectedFile = rejectedPath?.endsWith('.csv') ? await readFile(rejectedPath, 'utf8') : ''
    const countsLine = /^-[- ]+\n\S+ +(.*)$/m.exec(out)?.[1] ?? ''
    const counts = countsLine.split(/ +/).map(figure => Number(figure.replaceAll(',', '')))
    const [, ...rejected] = parse(rejectedFile, { relax_column_count: true }) as string[][]
    const reasons = rejected.map(([, column, reason]) => `${column} ${reason}`)
    return { code, out, err, rejectedFile, reasons, counts }
  }
}

/** Returns the environment of a command for an installation. */
export const buildEnvironment = ({ database: { connection }, secret }: TestApi, directory: string) => ({
  DATA_DIR: join(directory, 'data'),
  DATABASE_URL: connection,
  SECRET_KEY: secret,
})
