{{- define "tillbridge.name" -}}
{{- if contains .Chart.Name .Release.Name -}}{{ .Release.Name }}{{- else -}}{{ .Release.Name }}-{{ .Chart.Name }}{{- end -}}
{{- end }}

{{- define "tillbridge.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tillbridge.labels" -}}
{{ include "tillbridge.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* Fields of each pod: (dict "root" $ "component" "api") */}}
{{- define "tillbridge.pod" -}}
{{- $root := .root }}
serviceAccountName: {{ include "tillbridge.name" $root }}
automountServiceAccountToken: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with $root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- if $root.Values.topologySpreadConstraints }}
  {{- toYaml $root.Values.topologySpreadConstraints | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "tillbridge.selector" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- end }}
volumes:
  - name: data
    emptyDir: { sizeLimit: {{ $root.Values.dataVolume.sizeLimit }} }
  - name: tmp
    emptyDir: { medium: Memory, sizeLimit: 64Mi }
{{- with $root.Values.tls.secretName }}
  - name: tls
    secret: { secretName: {{ . }} }
{{- end }}
{{- end }}

{{/* Fields of each container. */}}
{{- define "tillbridge.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: data, mountPath: /var/lib/tillbridge }
  - { name: tmp, mountPath: /tmp }
{{- if .Values.tls.secretName }}
  - { name: tls, mountPath: /etc/tillbridge/tls, readOnly: true }
{{- end }}
{{- end }}

{{/* Settings of each process. */}}
{{- define "tillbridge.env" -}}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .Values.secrets.databaseUrl.name }}, key: {{ .Values.secrets.databaseUrl.key }} } }
- name: SECRET_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.secrets.secretKey.name }}, key: {{ .Values.secrets.secretKey.key }} } }
- { name: METRICS_PORT, value: {{ .Values.metrics.port | quote }} }
- { name: METRICS_HOST, value: "0.0.0.0" }
{{- with .Values.publicUrl }}
- { name: PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- if .Values.tls.secretName }}
- { name: TLS_CERT_FILE, value: /etc/tillbridge/tls/tls.crt }
- { name: TLS_KEY_FILE, value: /etc/tillbridge/tls/tls.key }
{{- end }}
{{- range $name, $value := .Values.env }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
