import { type Db, sql } from '../../database/db.ts'
import { rfc3339 } from '../../database/rfc3339.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** A file to import, identified by the SHA-256 of its content. */
interface ImportedFile {
  importType: string
  digest: Buffer
}

const isOfFile = (service: Service, { importType, digest }: ImportedFile) =>
  sql`service_id = ${service.id} and import_type = ${importType} and digest = decode(${digest.toString('hex')}, 'hex')`

/** Finds the last line of an interrupted import of the file, and the minutes since then. */
export const findInterruptedImport = (db: Db, service: Service, file: ImportedFile) =>
  db.row<{ line: number; minutes: number }>(sql`
    select line::float8 as line, (extract(epoch from clock_timestamp() - reached_at) / 60)::integer as minutes
      from import_progress where ${isOfFile(service, file)}`)

/** Records that all lines up to this one are imported. Call it after their commit. */
export const recordImportProgress = (db: Db, service: Service, file: ImportedFile, line: number) =>
  db.run(sql`
    insert into import_progress (service_id, import_type, digest, line, reached_at)
    values (${service.id}, ${file.importType}, decode(${file.digest.toString('hex')}, 'hex'), ${line}, clock_timestamp())
    on conflict (service_id, import_type, digest) do update set (line, reached_at) = (excluded.line, excluded.reached_at)`)

/** Deletes the progress of a file, and progress that is older than 30 days. */
export const deleteImportProgress = (db: Db, service: Service, file: ImportedFile) =>
  db.run(sql`
    delete from import_progress
     where ${isOfFile(service, file)} or service_id = ${service.id} and reached_at < clock_timestamp() - interval '30 days'`)

/** How a file was imported. */
interface ImportProfile {
  /** SHA-256 of the column names of the file. */
  header: string
  importType: string
  /** A profile of `tillbridge import`, as JSON. */
  profile: string
  username: string
}

const maxListedProfiles = 500

/** Returns the profiles of a service, newest first, as a JSON array. */
export const renderImportProfiles = (db: Db, service: Service) =>
  db.row<{ record: string }>(sql`
    select coalesce(json_agg(r), '[]')::text as record
      from (select header_hash as header, import_type as type, profile::json as profile, username, ${rfc3339(sql`saved_at`)} as "savedAt"
              from import_profile
             where service_id = ${service.id}
             order by saved_at desc
             limit ${maxListedProfiles}) r`)

/** Saves a profile. Replaces a profile for the same columns. */
export const saveImportProfile = (tx: Db, service: Service, { header, importType, profile, username }: ImportProfile) =>
  tx.run(sql`
    insert into import_profile (service_id, header_hash, import_type, profile, username)
    values (${service.id}, ${header}, ${importType}, ${profile}, ${username})
    on conflict (service_id, header_hash) do update
       set (import_type, profile, username, saved_at) = (excluded.import_type, excluded.profile, excluded.username, now())`)
