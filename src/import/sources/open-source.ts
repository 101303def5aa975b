import { type BackOfficeSettings, parseSftpAddress } from '../../domain/tenancy/back-office-settings.ts'
import type { ExportFolder } from './export-source.ts'
import { openFolder } from './folder.ts'
import { openSftpFolder } from './sftp.ts'

/** Opens the export folder: a local one, or one on an SFTP server. The caller must close it. `signal` aborts the work. */
export async function openExports(settings: BackOfficeSettings, signal: AbortSignal): Promise<ExportFolder> {
  const { exportFolder = '', sftpHostKey = '', sftpKeyFile: keyFile, sftpPassword: password } = settings
  const address = parseSftpAddress(exportFolder)
  if (!address) return openFolder(exportFolder)
  const hostKeys = sftpHostKey.split(',').map(fingerprint => fingerprint.trim().replace(/=+$/, ''))
  return openSftpFolder({ address, hostKeys, keyFile, password }, signal)
}
