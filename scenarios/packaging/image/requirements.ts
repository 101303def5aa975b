import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runOnMachine } from './machine.ts'
import { runProgram } from './run-program.ts'

/** True if a program is installed, whatever its exit code: `ip` of Debian 12 has no `--version` and exits with 255. */
export const isInstalled = (program: string) => spawnSync(program, ['--version']).error === undefined
const rootMissing =
  process.platform !== 'linux' || process.geteuid?.() !== 0 ? 'building an image needs root on Linux' : undefined

/** Why no image can be built on this machine; undefined if one can. */
export const buildahMissing =
  rootMissing ?? (isInstalled('buildah') ? undefined : 'buildah is missing: apt-get install buildah')

/** A shell command that runs a container with a published port. Its only program ends immediately. */
const runSmallestContainer =
  'podman import image.tar smallest && podman run --init --read-only -p 8443:8443 smallest catatonit --version'

/** Returns why compose.yaml can't run on this machine, or undefined if it can. Tries a small container, because kernels differ. */
export function findComposeObstacle(): string | undefined {
  if (rootMissing) return rootMissing
  if (!['podman', 'podman-compose', 'catatonit', 'ip'].every(isInstalled))
    return 'podman-compose is missing: apt-get install podman podman-compose catatonit iproute2'
  const home = mkdtempSync(join(tmpdir(), 'tillbridge-container-'))
  try {
    runProgram('tar', '-C', '/', '-cf', join(home, 'image.tar'), 'usr/bin/catatonit')
    const { status, stderr } = runOnMachine(home, ['sh', '-c', runSmallestContainer], 'pipe')
    return status === 0 ? undefined : `podman cannot run a container here: ${stderr.trim().split('\n').at(-1)}`
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
