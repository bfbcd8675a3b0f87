{{- define "kraftlet.name" -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "kraftlet.selector" -}}
app.kubernetes.io/name: kraftlet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kraftlet.labels" -}}
{{ include "kraftlet.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Labels as Kraftlet reads them: k=v;k=v */}}
{{- define "kraftlet.nodeLabels" -}}
{{- if kindIs "map" .Values.node.labels -}}
{{- $pairs := list -}}
{{- range $key, $value := .Values.node.labels -}}
{{- $pairs = append $pairs (printf "%s=%s" $key (toString $value)) -}}
{{- end -}}
{{- join ";" $pairs -}}
{{- else -}}
{{- .Values.node.labels -}}
{{- end -}}
{{- end -}}
