import { readFileSync } from 'node:fs'

const row = /^\| (\d{4}-\d{2}-\d{2}) \| (ADDED|FIXED|BREAKING|ANNOUNCEMENT) \| (.+) \|$/

/** The dated changelog, as CHANGELOG.md has it: the newest first. */
export const changelog = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  .split('\n')
  .flatMap(line => {
    const [, date, category, change] = row.exec(line) ?? []
    return date ? [{ date, category, change }] : []
  })
