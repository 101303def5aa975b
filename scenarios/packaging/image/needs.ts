import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onMachine } from './machine.ts'
import { ran } from './ran.ts'

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0
const noRoot =
  process.platform !== 'linux' || process.geteuid?.() !== 0 ? 'an image is built as root of a Linux' : undefined

/** Why no image can be built here; undefined where one can. */
export const noBuildah = noRoot ?? (isThere('buildah') ? undefined : 'there is no buildah: apt-get install buildah')

/** A container with a port, of an image of one program, which ends at once. */
const smallest =
  'podman import image.tar smallest && podman run --init --read-only -p 8443:8443 smallest catatonit --version'

/** Why compose.yaml cannot be run here; undefined where it can. What a kernel lacks is found out by trying. */
export function noCompose(): string | undefined {
  if (noRoot) return noRoot
  if (!['podman', 'podman-compose', 'catatonit', 'ip'].every(isThere))
    return 'there is no podman-compose: apt-get install podman podman-compose catatonit iproute2'
  const home = mkdtempSync(join(tmpdir(), 'tillbridge-container-'))
  try {
    ran('tar', '-C', '/', '-cf', join(home, 'image.tar'), 'usr/bin/catatonit')
    const { status, stderr } = onMachine(home, ['sh', '-c', smallest], 'pipe')
    return status === 0 ? undefined : `podman cannot run a container here: ${stderr.trim().split('\n').at(-1)}`
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
