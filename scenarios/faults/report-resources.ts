import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A process that was started with `--import` of this file writes its active resources and memory to this file in its DATA_DIR on SIGUSR2. */
export const resourcesFile = 'resources.json'

const { DATA_DIR: directory } = process.env
if (directory)
  process.on('SIGUSR2', () => {
    const file = join(directory, resourcesFile)
    writeFileSync(
      `${file}.new`,
      JSON.stringify({ resources: process.getActiveResourcesInfo(), memory: process.memoryUsage() }),
    )
    renameSync(`${file}.new`, file)
  })
