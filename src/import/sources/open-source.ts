import { type BackOfficeSettings, sftpAddressIn } from '../../domain/tenancy/back-office-settings.ts'
import type { ExportPlace } from './export-source.ts'
import { openFolder } from './folder.ts'
import { openSftpFolder } from './sftp.ts'

/** Opens what `exports` names: a folder of this machine, or one of an SFTP server. To be closed; the signal breaks it off. */
export async function openExports(settings: BackOfficeSettings, signal: AbortSignal): Promise<ExportPlace> {
  const { exports = '', exportsHostKey = '', exportsKey, exportsPassword } = settings
  const address = sftpAddressIn(exports)
  if (!address) return openFolder(exports)
  const hostKeys = exportsHostKey.split(',').map(each => each.trim().replace(/=+$/, ''))
  return openSftpFolder({ address, hostKeys, keyFile: exportsKey, password: exportsPassword }, signal)
}
