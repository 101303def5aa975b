import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { createBase } from './image/base.ts'
import { runOnMachine } from './image/machine.ts'
import { packRelease } from './image/release.ts'
import { findComposeObstacle } from './image/requirements.ts'

new Command('npm run scenario -- compose')
  .description(
    "Runs deploy/compose.evaluation.yaml with Debian's podman-compose, as in docs/operate/install-container.md: build, up, HTTPS requests, stop, down, and up again. Needs root.\nThe base image consists of this machine's packages, so no registry is used. The scenario has its own storage, network and processes, and removes them.",
  )
  .addHelpText('after', '\nExample:\n  npm run scenario -- compose\n')
  .parse()

const obstacle = findComposeObstacle()
if (obstacle) throw new Error(obstacle)
const home = mkdtempSync(join(tmpdir(), 'tillbridge-compose-'))
const deploy = fileURLToPath(new URL('../../deploy', import.meta.url))
try {
  packRelease(home)
  createBase(home, 'here')
  for (const file of ['compose.evaluation.yaml', 'Dockerfile']) cpSync(join(deploy, file), join(home, 'deploy', file))
  const program = join(import.meta.dirname, 'image/composed.ts')
  process.exitCode = runOnMachine(home, [process.execPath, program], 'inherit').status ?? 1
} finally {
  rmSync(home, { recursive: true, force: true })
}
