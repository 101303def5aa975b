import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where a process that was started with `--import` of this file writes, on SIGUSR2, what keeps it alive and what memory it uses; in its DATA_DIR. */
export const activeFile = 'active.json'

const { DATA_DIR: home } = process.env
if (home)
  process.on('SIGUSR2', () => {
    const file = join(home, activeFile)
    writeFileSync(
      `${file}.new`,
      JSON.stringify({ kinds: process.getActiveResourcesInfo(), memory: process.memoryUsage() }),
    )
    renameSync(`${file}.new`, file)
  })
