module karpenter-provider-unikraft/test/bench/webhook/donothing

go 1.26.0
