import { readFileSync } from 'node:fs'

const row = /^\| (\d{4}-\d{2}-\d{2}) \| (ADDED|FIXED|BREAKING|ANNOUNCEMENT) \| (.+) \|$/

/** The entries of CHANGELOG.md, newest first. */
export const changelog = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  .split('\n')
  .flatMap(line => {
    const [, date, category, change] = row.exec(line) ?? []
    return date ? [{ date, category, change }] : []
  })
